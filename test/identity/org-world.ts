import { createHash } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createOrg } from '../../functions/identity/create-org.ts';
import { acceptInvitation } from '../../functions/identity/accept-invitation.ts';
import { createInvitation } from '../../functions/identity/create-invitation.ts';
import { createProject } from '../../functions/identity/create-project.ts';
import type { Actor, WithoutEmail } from '../../functions/platform/actor.ts';
import { ScopedOrg, ScopedProject } from '../../functions/platform/scope.ts';
import { createContext } from '../../functions/platform/context.ts';
import type { Endpoint } from '../../functions/platform/http/endpoint.ts';
import { Refusal } from '../../functions/platform/errors.ts';
import { newId } from '../../functions/platform/ids.ts';
import { auditKey, orgKey, outboxKey, projectKey, userKey } from '../../functions/platform/data/keys.ts';
import type { Grant } from '../../functions/platform/permissions.ts';
import type { Key } from '../../functions/platform/data/table.ts';
import * as v from 'valibot';
import { startControlTable } from '../control-table.ts';

export interface Person {
  id: string;
  email: string;
}

/** Some body, as a test looks into it. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Body = Record<string, any>;

export interface Answer {
  status: number;
  /** Why it was refused, if it was. */
  code: string | undefined;
  headers: Record<string, string>;
  body: Body;
  /** DynamoDB requests it took. Only of use when nothing else runs. */
  requests: number;
}

export interface Asking {
  as?: Person;
  actor?: Actor;
  grants?: Grant[];
  org?: string;
  project?: string;
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  key?: string;
  ifMatch?: number;
  withoutEmail?: WithoutEmail;
  now?: () => Date;
}

export const PLATFORM_ADMIN: Grant[] = [{ role: 'platform_admin' }];

/** Handlers over a real table, called as the kernel calls them once a caller is authorized. */
export async function openOrgWorld() {
  const table = await startControlTable();
  process.env['INVITATIONS_WITHOUT_EMAIL'] = 'refused';
  // A client of the test's own: what the test looks up is not what a handler costs.
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const name = process.env['CONTROL_TABLE'];
  let people = 0;

  async function get(key: Key): Promise<Body | undefined> {
    return (await client.send(new GetCommand({ TableName: name, Key: key, ConsistentRead: true }))).Item;
  }

  async function rows(pk: string, prefix = ''): Promise<Body[]> {
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName: name,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
        ExpressionAttributeValues: { ':pk': pk, ':first': prefix || ' ', ':last': `${prefix}~` },
      }),
    );
    return Items;
  }

  async function ask(endpoint: Endpoint, asking: Asking): Promise<Answer> {
    const { as, org, project, now } = asking;
    const actor: Actor =
      asking.actor ?? (as ? { kind: 'user', ...as } : { kind: 'anonymous', id: 'anonymous' });
    const orgItem = org === undefined ? undefined : await get(orgKey(org));
    const projectItem = project === undefined ? undefined : await get(projectKey(project));
    // Whoever asks may hold roles as a person does.
    const id: string = actor.id;
    const grants = asking.grants ?? ((await get(userKey(id)))?.['grants'] as Grant[] | undefined) ?? [];
    const ctx = {
      ...createContext(newId()),
      actor,
      grants,
      org: orgItem && v.parse(ScopedOrg, orgItem),
      project: projectItem && v.parse(ScopedProject, projectItem),
      ifMatch: asking.ifMatch,
      withoutEmail: asking.withoutEmail,
      ...(now && { now }),
    };
    const before = table.count();
    try {
      const { status, headers, body } = await endpoint.run(ctx, {
        route: endpoint.spec.summary,
        params: { ...(org && { org_id: org }), ...(project && { project_id: project }), ...asking.params },
        query: asking.query ?? {},
        bodyText: asking.body === undefined ? undefined : JSON.stringify(asking.body),
        contentType: 'application/json',
        idempotencyKey: asking.key ?? (endpoint.spec.idempotency === 'required' ? newId() : undefined),
        ifMatch: asking.ifMatch,
        sourceIp: '127.0.0.1',
      });
      // As it travels.
      const sent = JSON.parse(JSON.stringify(body ?? {})) as Body;
      return { status, code: undefined, headers, body: sent, requests: table.count() - before };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const body = { errors: error.faults };
      return { status: 0, code: error.code, headers: {}, body, requests: table.count() - before };
    }
  }

  function person(): Person {
    people += 1;
    const hex = createHash('sha256').update(`${people} ${newId()}`).digest('hex');
    return {
      id: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`,
      email: `person-${people}@example.com`,
    };
  }

  async function done(answering: Promise<Answer>): Promise<Body> {
    const { code, body } = await answering;
    if (code !== undefined) throw new Error(`It was refused: ${code}.`);
    return body;
  }

  /** An organisation, and the person who administers it. */
  async function newOrg(): Promise<{ org: string; admin: Person }> {
    const admin = person();
    const body = { name: 'An organisation', slug: `org-${newId().slice(-12)}` };
    const { id } = await done(ask(createOrg, { as: admin, grants: PLATFORM_ADMIN, body }));
    return { org: id as string, admin };
  }

  async function newProject(org: string): Promise<string> {
    const body = { name: 'A project', slug: `project-${newId().slice(-12)}` };
    const { id } = await done(ask(createProject, { as: person(), org, body }));
    return id as string;
  }

  async function invite(org: string, to: Person, role: string, project?: string): Promise<string> {
    const body = { email: to.email, role, ...(project && { project_id: project }) };
    const { invitation_token } = await done(
      ask(createInvitation, { as: person(), grants: PLATFORM_ADMIN, org, body }),
    );
    return invitation_token as string;
  }

  async function accept(as: Person, invitation_token: string): Promise<Answer> {
    return ask(acceptInvitation, { as, body: { invitation_token } });
  }

  return {
    ask,
    done,
    get,
    rows,
    person,
    newOrg,
    newProject,
    invite,
    accept,
    /** Somebody who came by an invitation. */
    async join(org: string, role: string, project?: string): Promise<Person> {
      const newcomer = person();
      await done(accept(newcomer, await invite(org, newcomer, role, project)));
      return newcomer;
    },
    async set(key: Key, attribute: string, value: unknown): Promise<void> {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: key,
          UpdateExpression: 'SET #name = :value',
          ExpressionAttributeNames: { '#name': attribute },
          ExpressionAttributeValues: { ':value': value },
        }),
      );
    },
    audit: (place: string) => rows(auditKey(place, '').pk),
    async events(place: string): Promise<Body[]> {
      return (await rows(outboxKey(place, '').pk)).map(({ event }) => event as Body);
    },
    indexed: () => table.indexed(),
    stop: () => table.stop(),
  };
}

export type OrgWorld = Awaited<ReturnType<typeof openOrgWorld>>;
