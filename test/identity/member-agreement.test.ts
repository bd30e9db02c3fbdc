import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putOrgMember } from '../../functions/identity/put-org-member.ts';
import { putProjectMember } from '../../functions/identity/put-project-member.ts';
import { removeOrgMember } from '../../functions/identity/remove-org-member.ts';
import { removeProjectMember } from '../../functions/identity/remove-project-member.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import { ORG_ROLES, PROJECT_ROLES } from '../../functions/platform/permissions.ts';
import { orgKey, projectKey, userKey } from '../../functions/platform/data/keys.ts';
import {
  type Answer,
  type Body,
  type OrgWorld,
  openOrgWorld,
  type Person,
  PLATFORM_ADMIN,
} from './org-world.ts';

// What a person holds, what the places list and how many admins are counted are kept apart, so that each is read by
// one request. Whatever is done, in whatever order or at once, they must say the same.

const PEOPLE = 3;
const PROJECTS = 2;
/** In place 0 the organisation itself, then its projects. */
type Step =
  | { act: 'invite' | 'put'; who: number; place: number; role: string }
  | { act: 'remove'; who: number; place: number };

const step: fc.Arbitrary<Step> = fc
  .record({ who: fc.nat({ max: PEOPLE - 1 }), place: fc.nat({ max: PROJECTS }) })
  .chain(({ who, place }) => {
    const role = fc.constantFrom<string>(...(place === 0 ? ORG_ROLES : PROJECT_ROLES));
    return fc.oneof(
      fc.record({
        act: fc.constantFrom('invite' as const, 'put' as const),
        who: fc.constant(who),
        place: fc.constant(place),
        role,
      }),
      fc.record({ act: fc.constant('remove' as const), who: fc.constant(who), place: fc.constant(place) }),
    );
  });

interface Scene {
  org: string;
  projects: string[];
  people: Person[];
}

let world: OrgWorld;
beforeAll(async () => void (world = await openOrgWorld()));
afterAll(() => world.stop());

async function setScene(): Promise<Scene> {
  const { org, admin } = await world.newOrg();
  const projects = [await world.newProject(org), await world.newProject(org)];
  const people = [admin, ...Array.from({ length: PEOPLE - 1 }, () => world.person())];
  return { org, projects, people };
}

async function take(scene: Scene, { act, who, place, ...more }: Step): Promise<Answer> {
  const { org, projects, people } = scene;
  const [person, project] = [people[who] as Person, projects[place - 1]];
  const role = 'role' in more ? more.role : '';
  if (act === 'invite') return world.accept(person, await world.invite(org, person, role, project));
  const asking = {
    as: people[0] as Person,
    grants: PLATFORM_ADMIN,
    params: { user_id: person.id },
    ...(project ? { project } : { org }),
  };
  if (act === 'put')
    return world.ask(project ? putProjectMember : putOrgMember, { ...asking, body: { role } });
  return world.ask(project ? removeProjectMember : removeOrgMember, asking);
}

/** `<who> <place> <role>` of every role, as the people hold them and as the places list them. */
async function readScene({ org, projects, people }: Scene) {
  const places = [org, ...projects];
  const held = await Promise.all(
    people.map(async ({ id }, who) =>
      ((await world.get(userKey(id)))?.['grants'] ?? []).map(
        (grant: Body) => `${who} ${places.indexOf(grant['project_id'] ?? grant['org_id'])} ${grant['role']}`,
      ),
    ),
  );
  const listed = await Promise.all(
    places.map(async (id, place) => {
      const rows = await world.rows((place === 0 ? orgKey(id) : projectKey(id)).pk, 'MEMBER#');
      return rows.map(
        (row) => `${people.findIndex((each) => each.id === row['user_id'])} ${place} ${row['role']}`,
      );
    }),
  );
  const admins = (await world.get(orgKey(org)))?.['admin_count'] as number;
  return { held: (held.flat() as string[]).sort(), listed: listed.flat().sort(), admins };
}

async function expectAgreement(scene: Scene): Promise<void> {
  const { held, listed, admins } = await readScene(scene);
  expect(listed).toEqual(held);
  expect(held.filter((each) => each.endsWith(' 0 org_admin'))).toHaveLength(admins);
  expect(admins).toBeGreaterThan(0);
}

/** What each step must answer and leave behind, told by a model that knows nothing of tables. */
function foresee(roles: Map<string, string>, { act, who, place, ...more }: Step): string | undefined {
  const here = `${who} ${place}`;
  const role = 'role' in more ? more.role : undefined;
  const isKnown = [...roles.keys()].some((key) => key.startsWith(`${who} `));
  const isGoing = act === 'remove' ? place === 0 && isKnown : true;
  if (act === 'put' && !isKnown) return 'member.unknown';
  if (act === 'remove' && (place === 0 ? !isKnown : !roles.has(here))) return 'member.unknown';
  const admins = [...roles].filter(([key, held]) => key.endsWith(' 0') && held === 'org_admin');
  const isLast = admins.length === 1 && admins[0]?.[0] === `${who} 0`;
  if (isLast && isGoing && place === 0 && role !== 'org_admin') return 'member.last_admin';
  if (role !== undefined) roles.set(here, role);
  else
    for (const key of roles.keys())
      if (key === here || (place === 0 && key.startsWith(`${who} `))) roles.delete(key);
  return undefined;
}

test(
  'one after another, people, places and counts agree with each other and with the model',
  { timeout: 120_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const scene = await setScene();
        const roles = new Map([['0 0', 'org_admin']]);
        for (const each of steps) {
          const foreseen = foresee(roles, each);
          const { code } = await take(scene, each);
          expect({ ...each, code }).toEqual({ ...each, code: foreseen });
        }
        await expectAgreement(scene);
        const { held } = await readScene(scene);
        expect(held).toEqual([...roles].map(([key, role]) => `${key} ${role}`).sort());
      }),
      { numRuns: 60 },
    );
  },
);

test('at once, they still agree, and an admin always remains', { timeout: 120_000 }, async () => {
  const refusals = [
    undefined,
    'member.unknown',
    'member.last_admin',
    'request.conflict',
    'invitation.unknown',
  ];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
      const scene = await setScene();
      const answers = await Promise.all(steps.map((each) => take(scene, each)));
      for (const { code } of answers) expect(refusals).toContain(code);
      await expectAgreement(scene);
    }),
    { numRuns: 40 },
  );
});

test('a change that another one overtakes is decided again, and neither is lost', async () => {
  const scene = await setScene();
  await take(scene, { act: 'invite', who: 1, place: 0, role: 'viewer' });
  let isOvertaken = false;
  dynamo().middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName === 'TransactWriteItemsCommand' && !isOvertaken) {
          isOvertaken = true;
          await take(scene, { act: 'put', who: 1, place: 1, role: 'app_operator' });
        }
        return next(args);
      },
    { step: 'initialize', name: 'overtake' },
  );
  const { code } = await take(scene, { act: 'put', who: 1, place: 2, role: 'app_operator' });
  dynamo().middlewareStack.remove('overtake');
  expect(code).toBeUndefined();
  expect(isOvertaken).toBe(true);
  await expectAgreement(scene);
  const { held } = await readScene(scene);
  expect(held.filter((each) => each.startsWith('1 '))).toHaveLength(3);
});
