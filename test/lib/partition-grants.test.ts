import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ARTIFACT_PARTITIONS,
  CONTENT_PARTITIONS,
  DUE_ARTIFACTS,
  projectArtifacts,
  TRUST_PARTITION,
} from '../../functions/artifacts/keys.ts';
import { APP_PARTITIONS, CATALOG_PARTITION } from '../../functions/catalog/keys.ts';
import { TICKET_PARTITIONS } from '../../functions/events/socket-keys.ts';
import { PARTITIONS } from '../../functions/partitions.ts';
import {
  AUDIT_PARTITIONS,
  AUTHORIZATION_PARTITIONS,
  OUTBOX_PARTITIONS,
  OUTBOX_SHARDS,
  PROJECT_PARTITIONS,
  RECEIPT_PARTITIONS,
  SERVICE_ACCOUNT_PARTITIONS,
  USER_PARTITIONS,
} from '../../functions/platform/data/keys.ts';
import { openPromotions, promotionPartitions } from '../../functions/promotion/keys.ts';
import { tables } from '../../functions/routes.ts';
import { REPOSITORY_PARTITION } from '../../functions/storage/keys.ts';
import { type Action, type FunctionRoles, openFunctionRoles } from './function-roles.ts';
import { ofType, synthesizedApp } from './synthesized.ts';

const { platform, outdir } = synthesizedApp();

const functions = ofType(platform, 'AWS::Lambda::Function').map(([, { Properties }]) =>
  String(Properties.FunctionName).replace('GpuaasPlatform-', ''),
);
const domainOf = (name: string): string => name.slice(0, name.indexOf('-'));

/** Every function that answers requests; the one that answers with documents knows nobody and keeps nothing. */
const APIS = Object.keys(tables)
  .filter((domain) => domain !== 'docs')
  .map((domain) => `${domain}-api`);
const REACTIONS = functions.filter((name) => name.endsWith('-react-to-events'));
const RELAYS = ['events-relay-events', 'events-relay-again', 'events-sweep-outbox'];
/** What promotes versions, and what promotes artifacts. */
const OF_VERSIONS = [
  'manifests-check-version',
  'catalog-run-promotion-step',
  'catalog-sweep-promotions',
  'catalog-react-to-events',
];
const OF_ARTIFACTS = [
  'artifacts-verify-for-promotion',
  'artifacts-run-promotion-step',
  'artifacts-sweep-promotions',
  'artifacts-react-to-events',
];
/** What changes something by itself, asked by nobody. */
const BY_THEMSELVES = [
  ...OF_VERSIONS,
  ...OF_ARTIFACTS,
  'publishing-expire-intents',
  'retention-maintain-artifacts',
  'retention-sweep-repositories',
  'selftest-answer-selftest',
  'selftest-end-selftest',
  'selftest-react-to-events',
  'selftest-sweep-selftests',
];
const VERSION_PROMOTIONS = promotionPartitions('version');
const ARTIFACT_PROMOTIONS = promotionPartitions('artifact');

type Crossing = [who: readonly string[], to: readonly string[], may: readonly Action[], why: string];

/** Who crosses which border. Nothing else is allowed, and each of these is. */
const CROSSINGS: Crossing[] = [
  // What the kernel does in every domain.
  [APIS, AUTHORIZATION_PARTITIONS, ['BatchGetItem'], 'knows who calls and what they may'],
  [APIS, [RECEIPT_PARTITIONS], ['GetItem', 'PutItem'], 'answers a repeated request as it did the first time'],
  [[...APIS, ...BY_THEMSELVES], [AUDIT_PARTITIONS, OUTBOX_PARTITIONS], ['PutItem'], 'tells what it changes'],
  [REACTIONS, [OUTBOX_PARTITIONS], ['GetItem'], 'reads the event it is pointed to'],

  // The events themselves.
  [['events-api'], [AUDIT_PARTITIONS], ['Query', 'Query gsi1'], 'shows the audit log'],
  [RELAYS, [OUTBOX_PARTITIONS], ['BatchGetItem'], 'relays what others have committed'],
  [['events-sweep-outbox'], OUTBOX_SHARDS, ['Query gsi1'], 'looks for what was never relayed'],
  [RELAYS, [USER_PARTITIONS, SERVICE_ACCOUNT_PARTITIONS], ['BatchGetItem'], 'pushes to who still may follow'],
  [['selftest-api'], [TICKET_PARTITIONS], ['PutItem'], 'lets who asked for a run follow it'],

  // A promotion's row is kept by the functions of what is promoted.
  [
    ['catalog-api', ...OF_VERSIONS],
    [VERSION_PROMOTIONS],
    ['GetItem', 'BatchGetItem', 'UpdateItem'],
    'promotes',
  ],
  [
    ['artifacts-api', ...OF_ARTIFACTS],
    [ARTIFACT_PROMOTIONS],
    ['GetItem', 'BatchGetItem', 'UpdateItem'],
    'promotes',
  ],
  [['catalog-sweep-promotions'], [openPromotions('version')], ['Query gsi1'], 'finds promotions that hang'],
  [
    ['artifacts-sweep-promotions'],
    [openPromotions('artifact')],
    ['Query gsi1'],
    'finds promotions that hang',
  ],
  [
    ['manifests-api'],
    [VERSION_PROMOTIONS],
    ['BatchGetItem', 'ConditionCheckItem'],
    'replaces no draft under way',
  ],
  [
    ['retention-maintain-artifacts'],
    [ARTIFACT_PROMOTIONS],
    ['BatchGetItem', 'DeleteItem'],
    'forgets it with its draft',
  ],

  // A manifest becomes a version, and is checked before that is staged.
  [
    ['manifests-api'],
    [CATALOG_PARTITION, APP_PARTITIONS],
    ['BatchGetItem', 'PutItem', 'UpdateItem'],
    'registers',
  ],
  [['manifests-check-version'], [APP_PARTITIONS], ['GetItem'], 'reads the manifest'],
  [
    ['manifests-check-version'],
    [CATALOG_PARTITION],
    ['BatchGetItem', 'PutItem', 'UpdateItem'],
    'moves the version',
  ],
  [
    ['manifests-check-version'],
    [APP_PARTITIONS],
    ['BatchGetItem', 'PutItem', 'UpdateItem', 'ConditionCheckItem'],
    'moves the version',
  ],

  // A version never outranks its artifacts, and its app says whether they are trusted.
  [
    ['catalog-api'],
    [ARTIFACT_PARTITIONS],
    ['ConditionCheckItem'],
    'promotes no version of unready artifacts',
  ],
  [
    OF_VERSIONS,
    [ARTIFACT_PARTITIONS],
    ['BatchGetItem', 'ConditionCheckItem'],
    'moves while its artifacts are ready',
  ],
  [
    ['artifacts-api', 'artifacts-verify-for-promotion', 'retention-maintain-artifacts'],
    [CATALOG_PARTITION],
    ['PutItem', 'UpdateItem'],
    'tells the app that trust was lost or found again',
  ],
  [
    ['artifacts-api', ...OF_ARTIFACTS, 'retention-maintain-artifacts'],
    [CATALOG_PARTITION],
    ['BatchGetItem'],
    'finds the version that names the artifact',
  ],
  [
    ['artifacts-api', ...OF_ARTIFACTS, 'retention-maintain-artifacts'],
    [APP_PARTITIONS],
    ['BatchGetItem', 'ConditionCheckItem'],
    'holds the version that names the artifact',
  ],

  // What is published.
  [['publishing-api'], [CATALOG_PARTITION], ['GetItem'], 'knows whose the app is'],
  [['publishing-api'], [TRUST_PARTITION], ['Query'], 'says what a signature must be'],
  [['publishing-api'], [REPOSITORY_PARTITION], ['UpdateItem'], 'opens the repository'],
  [
    ['artifacts-api'],
    [REPOSITORY_PARTITION],
    ['ConditionCheckItem'],
    'registers nothing that is being removed',
  ],
  [
    ['artifacts-api'],
    [PROJECT_PARTITIONS],
    ['ConditionCheckItem'],
    'registers nothing in an archived project',
  ],

  // Retention has no rows of its own: it looks after those of artifacts.
  [
    ['retention-maintain-artifacts'],
    [ARTIFACT_PARTITIONS],
    ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'DeleteItem'],
    'verifies artifacts again and forgets drafts',
  ],
  [
    ['retention-maintain-artifacts'],
    [CONTENT_PARTITIONS],
    ['UpdateItem'],
    'frees the bytes of a forgotten draft',
  ],
  [['retention-maintain-artifacts'], [TRUST_PARTITION], ['Query'], 'goes by the trust policies'],
  [['retention-maintain-artifacts'], [DUE_ARTIFACTS], ['Query gsi1'], 'finds what is due'],
  [
    ['retention-api', 'retention-sweep-repositories'],
    [projectArtifacts('*'), DUE_ARTIFACTS],
    ['Query gsi1'],
    'spares what is registered',
  ],
  [
    ['retention-sweep-repositories'],
    [ARTIFACT_PARTITIONS, CONTENT_PARTITIONS],
    ['BatchGetItem'],
    'spares what was registered a moment ago',
  ],
  [
    ['retention-api', 'retention-sweep-repositories'],
    [REPOSITORY_PARTITION],
    ['Query'],
    'goes through the repositories',
  ],
  [['retention-sweep-repositories'], [REPOSITORY_PARTITION], ['UpdateItem'], 'claims what it cleans'],
];

type Reached = Record<string, Action[]>;

const owned: { owner: string; table: readonly string[]; gsi1?: readonly string[] }[] = Object.entries(
  PARTITIONS,
).map(([owner, of]) => ({ owner, ...of }));

/** What the function may do in partitions of others, by the table above. */
function expected(name: string): Reached {
  const reached = new Map<string, Set<Action>>();
  for (const [who, to, may] of CROSSINGS) {
    if (!who.includes(name)) continue;
    for (const partition of to.filter((each) => !ownersOf(each).includes(domainOf(name))))
      reached.set(partition, new Set([...(reached.get(partition) ?? []), ...may]));
  }
  return Object.fromEntries([...reached].map(([partition, actions]) => [partition, [...actions].sort()]));
}

const ownersOf = (partition: string): string[] =>
  owned.filter(({ table, gsi1 = [] }) => [...table, ...gsi1].includes(partition)).map(({ owner }) => owner);

let roles: FunctionRoles;
const reached = new Map<string, Reached>();

beforeAll(async () => {
  roles = await openFunctionRoles(outdir);
  await Promise.all(functions.map(async (name) => reached.set(name, await reachOf(name))));
});

afterAll(() => roles?.close());

/** What the function's role lets it do in partitions of others, each action tried. */
async function reachOf(name: string): Promise<Reached> {
  const found: Reached = {};
  for (const { owner, table, gsi1 = [] } of owned) {
    if (owner === domainOf(name)) continue;
    for (const [on, partitions] of [
      ['table', table],
      ['gsi1', gsi1],
    ] as const)
      for (const partition of partitions) {
        const actions = await roles.reach(name, partition, on);
        if (actions.length > 0) found[partition] = [...(found[partition] ?? []), ...actions].sort();
      }
  }
  return found;
}

describe('a partition', () => {
  const all = (on: 'table' | 'gsi1') =>
    owned.flatMap(({ owner, [on]: partitions = [] }) =>
      partitions.map((partition) => ({ owner, partition })),
    );

  test.each(['table', 'gsi1'] as const)('of the %s has one owner', (on) => {
    const shared = all(on).flatMap((one) =>
      all(on).filter((other) => other.owner !== one.owner && covers(one.partition, other.partition)),
    );
    expect(shared).toEqual([]);
  });

  test('that a role is granted is declared', () => {
    for (const { on, partition, name } of roles.grants())
      expect(
        all(on).map((each) => each.partition),
        `${name} on ${on}`,
      ).toContain(partition);
  });
});

/** Whether the first has everything in it that the second has, or it is the same. */
const covers = (one: string, other: string): boolean =>
  one === other || (one.endsWith('*') && other.startsWith(one.slice(0, -1)));

describe('a function reaches its own partitions and, of others, what is listed', () => {
  test.each(functions)('%s', (name) => {
    expect(reached.get(name)).toEqual(expected(name));
  });

  test('and the list names no function and no partition that is not there', () => {
    for (const [who, to] of CROSSINGS) {
      for (const name of who) expect(functions).toContain(name);
      for (const partition of to) expect(ownersOf(partition), partition).toHaveLength(1);
    }
  });
});

const WRITES: Action[] = ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'];

test('nobody but identity may write what authorization reads', () => {
  const writers = [...reached].filter(([, of]) =>
    AUTHORIZATION_PARTITIONS.some((partition) => of[partition]?.some((action) => WRITES.includes(action))),
  );
  expect(writers).toEqual([]);
  expect(functions.filter((name) => domainOf(name) === 'identity')).toEqual(['identity-api']);
});

test('a role that is no function’s reaches no table', () => {
  expect(roles.others().filter((policies) => policies.includes('dynamodb:'))).toEqual([]);
});
