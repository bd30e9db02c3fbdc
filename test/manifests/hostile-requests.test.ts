import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Project } from '../../functions/identity/project.ts';
import type { Person } from '../api/scene.ts';
import { sampleOf } from '../deep.ts';
import { manifestOf } from './hostile-manifests/case.ts';
import { CONTENT_CASES } from './hostile-manifests/contents.ts';
import { SCHEMA_CASES } from './hostile-manifests/schemas.ts';
import { SHAPE_CASES } from './hostile-manifests/shapes.ts';
import { YAML_CASES, YAML_VALUE_CASES } from './hostile-manifests/yaml.ts';
import { type Body, type ManifestWorld, openManifestWorld } from './manifest-world.ts';

// The corpus as requests: what the rules refuse by themselves, the functions refuse too, and keep nothing of.

const DRY_RUN = 'POST /api/v1/projects/{project_id}/apps/manifests/validate';
const SUBMIT = 'POST /api/v1/projects/{project_id}/apps/manifests';
/** Nobody sends as much as this by themselves: they would be told to wait. */
const PEOPLE = 10;

/** Some are no JSON: what is not a number goes over the wire as null, which is refused at the same place. */
const SENT = sampleOf([...SHAPE_CASES, ...CONTENT_CASES, ...SCHEMA_CASES]).map((hostile) => ({
  ...hostile,
  text: JSON.stringify(manifestOf(hostile)) as string | undefined,
}));

/** An empty body is an empty object, whatever it is sent as. */
const UNREADABLE = YAML_CASES.filter(({ text }) => text.trim() !== '');

let catalogue: ManifestWorld;
let project: Project;
let people: Person[];
let before: number;
let sent = 0;

beforeAll(async () => {
  catalogue = await openManifestWorld();
  ({ project } = await catalogue.scene.place());
  const place = { org_id: project.org_id, project_id: project.id };
  people = [];
  for (let person = 0; person < PEOPLE; person += 1)
    people.push(await catalogue.scene.member(place, 'app_developer'));
  before = (await catalogue.world.items('')).length;
});

afterAll(() => catalogue.close());

const pointersOf = (problems: Body[]): string[] => problems.map(({ pointer }) => pointer as string);

async function send(route: typeof DRY_RUN | typeof SUBMIT, body: string, media: string) {
  const person = people[sent++ % PEOPLE] as Person;
  const params = { project_id: project.id };
  return catalogue.ask(route, person, { params, body, headers: { 'content-type': media } });
}

describe('a hostile manifest that is sent', () => {
  test(`is refused by a dry run and a submission alike, each of ${SENT.length}`, async () => {
    for (const { name, text, at, pointer = at } of SENT) {
      // Nothing at all is an empty body.
      const body = text ?? '';
      const dry = await send(DRY_RUN, body, 'application/json');
      expect(dry.status, `${name}: ${dry.text}`).toBe(200);
      expect(dry.body['valid'], name).toBe(false);
      const refused = await send(SUBMIT, body, 'application/json');
      expect(refused, name).toMatchObject({ status: 400, body: { code: 'manifest.invalid' } });
      for (const problems of [dry.body['problems'], refused.body['errors']] as Body[][]) {
        expect(pointersOf(problems), name).toContain(pointer);
        for (const problem of problems) expect(problem['detail'], name).toMatch(/\S/);
      }
    }
  }, 120_000);

  test(`is refused as YAML, each of ${UNREADABLE.length + YAML_VALUE_CASES.length}`, async () => {
    for (const { name, text } of UNREADABLE) {
      for (const route of [DRY_RUN, SUBMIT] as const) {
        const answer = await send(route, text, 'application/yaml');
        expect(answer, name).toMatchObject({ status: 400, body: { code: 'manifest.malformed' } });
      }
    }
    for (const { name, text, pointer } of YAML_VALUE_CASES) {
      const answer = await send(SUBMIT, text, 'application/yaml');
      expect(answer, name).toMatchObject({ status: 400, body: { code: 'manifest.invalid' } });
      expect(pointersOf(answer.body['errors'] as Body[]), name).toContain(pointer);
    }
  }, 60_000);

  test('leaves nothing behind', async () => {
    expect(await catalogue.world.items('')).toHaveLength(before);
  });
});
