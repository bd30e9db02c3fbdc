import * as v from 'valibot';
import { toJsonSchema } from '@valibot/to-json-schema';
import { appKey, versionKey } from '../../functions/catalog/keys.ts';
import { artifactIdOf, artifactKey } from '../../functions/catalog/readiness.ts';
import { type ProjectCreated, ProjectParams } from '../../functions/identity/project.ts';
import { submissionKey } from '../../functions/manifests/keys.ts';
import type { Actor } from '../../functions/platform/actor.ts';
import { auditKey, orgKey, outboxKey, projectKey, userKey } from '../../functions/platform/data/keys.ts';
import {
  type ArtifactId,
  type EventId,
  lowerCased,
  newId,
  type OrgId,
  ProjectId,
  type ServiceAccountId,
  type SubmissionId,
  textOf,
  type UserId,
} from '../../functions/platform/ids.ts';
import type { AppSlug, ProjectSlug } from '../../functions/platform/name.ts';
import type { Place } from '../../functions/platform/permissions.ts';
import type { ScopedOrg, ScopedProject } from '../../functions/platform/scope.ts';
import type { VersionNumber } from '../../functions/platform/version-number.ts';
import { intentKey } from '../../functions/publishing/keys.ts';
import { runKey } from '../../functions/selftest/keys.ts';
import { repositoryOf } from '../../functions/storage/repository.ts';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, expectTypeOf, test } from 'vitest';

// What the compiler refuses here is what these tests are about: a line that compiled after all would be an error.

const ROOT = join(import.meta.dirname, '../..');

const org = newId<OrgId>();
const project = newId<ProjectId>();

test("a project's id is no organisation's id", () => {
  // @ts-expect-error
  const taken: OrgId = project;
  // @ts-expect-error
  const place: Place = { org_id: project };
  expect([taken, place.org_id]).toEqual([project, project]);
  expectTypeOf<ScopedProject['id']>().toEqualTypeOf<ProjectId>();
  expectTypeOf<ScopedProject['org_id']>().toEqualTypeOf<OrgId>();
  expectTypeOf<ScopedOrg['id']>().toEqualTypeOf<OrgId>();
});

test("a person's id is no service account's", () => {
  // @ts-expect-error
  const actor: Actor = { kind: 'user', id: newId<ServiceAccountId>() };
  expect(actor.kind).toBe('user');
});

test('keys refuse the id of another kind', () => {
  const event = newId<EventId>();
  const keys = [
    // @ts-expect-error
    projectKey(org),
    // @ts-expect-error
    orgKey(project),
    // @ts-expect-error
    userKey(newId<ServiceAccountId>()),
    // @ts-expect-error
    artifactKey(project),
    // @ts-expect-error
    submissionKey(newId<ArtifactId>()),
    // @ts-expect-error
    intentKey(newId<SubmissionId>()),
    // @ts-expect-error
    runKey(event),
    // @ts-expect-error
    outboxKey(event, project),
    // @ts-expect-error
    auditKey(project, event),
  ];
  expect(keys).toHaveLength(9);
});

test('a slug and a version do not change places, nor do two slugs', () => {
  const [app, version] = ['jupyter' as AppSlug, '1.0.0' as VersionNumber];
  const publisher: ProjectSlug = 'research';
  // @ts-expect-error
  expect(versionKey(version, app)).not.toEqual(versionKey(app, version));
  // @ts-expect-error
  expect(appKey(publisher)).not.toEqual(appKey(app));
  // @ts-expect-error
  expect(repositoryOf(app, publisher)).not.toBe(repositoryOf(publisher, app));
});

test('what is parsed, derived or spelled otherwise keeps its kind', () => {
  expectTypeOf(v.parse(ProjectParams, { project_id: project }).project_id).toEqualTypeOf<ProjectId>();
  expectTypeOf(artifactIdOf).returns.toEqualTypeOf<ArtifactId>();
  expectTypeOf(lowerCased(newId<UserId>())).toEqualTypeOf<UserId>();
  expect(lowerCased('0190A6E0-0000-7000-8000-00000000000A')).toBe('0190a6e0-0000-7000-8000-00000000000a');
});

test('an event does not tell the id of another kind', () => {
  type Told = v.InferInput<typeof ProjectCreated.schema>;
  expectTypeOf<Told['project_id']>().toEqualTypeOf<ProjectId>();
  expectTypeOf<Told['org_id']>().toEqualTypeOf<OrgId>();
});

test('at run time an id is text, and its schema says no more than before', () => {
  expect(toJsonSchema(ProjectId)).toMatchObject({ type: 'string', format: 'uuid' });
  expect(toJsonSchema(textOf<OrgId>())).toEqual(toJsonSchema(v.string()));
  expect(v.is(ProjectId, 'demo')).toBe(false);
});

test('no id is declared as plain text', () => {
  const kinds =
    'org|project|user|service_?account|invitation|submission|intent|artifact|app_?instance|operation|event|selftest|correlation|connection';
  const plain = new RegExp(
    `\\b(?:(?:${kinds})_?ids?|app_slug|app_version)\\??: (?:v\\.(?:optional|array|set)\\()*(?:string\\b|v\\.string\\(\\))`,
    'i',
  );
  const declared = globSync('functions/**/*.ts', { cwd: ROOT }).flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .filter((line) => plain.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(declared).toEqual(['functions/docs/document.ts: operationId: string;']);
});
