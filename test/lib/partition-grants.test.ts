import { beforeAll, describe, expect, test } from 'vitest';
import { PARTITIONS } from '../../functions/partitions.ts';
import { AUTHORIZATION_PARTITIONS, OUTBOX_SHARDS } from '../../functions/platform/data/keys.ts';
import { tables } from '../../functions/routes.ts';
import { type FunctionRoles, openFunctionRoles } from './function-roles.ts';
import { ofType, shortName, synthesizedApp } from './synthesized.ts';

const { platform, outdir } = synthesizedApp();

const functions = ofType(platform, 'AWS::Lambda::Function').map(([, { Properties }]) =>
  shortName(Properties.FunctionName),
);
const domainOf = (name: string): string => name.slice(0, name.indexOf('-'));

/** Every function that answers requests; those that answer with documents know nobody and keep nothing. */
const APIS = Object.keys(tables)
  .filter((domain) => !['agent', 'docs'].includes(domain))
  .map((domain) => `${domain}-api`);
const REACTIONS = functions.filter((name) => name.endsWith('-react-to-events'));
const SOCKETS = ['events-open-connection', 'events-receive-message'];
const RELAYS = ['events-relay-events', 'events-relay-again', 'events-sweep-outbox'];
/** What promotes versions, and what promotes artifacts. */
const OF_VERSIONS = ['catalog-run-promotion-step', 'catalog-sweep-promotions', 'catalog-react-to-events'];
const OF_ARTIFACTS = [
  'artifacts-verify-for-promotion',
  'artifacts-run-promotion-step',
  'artifacts-sweep-promotions',
  'artifacts-react-to-events',
];
/** What goes on with releases and volumes. */
const OF_ALLOCATIONS = ['allocations-react-to-events', 'allocations-sweep-allocations'];
const MAINTAIN = 'retention-maintain-artifacts';
const SWEEP = 'retention-sweep-repositories';
/** What changes something by itself, asked by nobody. */
const BY_THEMSELVES = [
  ...OF_VERSIONS,
  ...OF_ARTIFACTS,
  'artifacts-stop-instances',
  'nodes-sweep-nodes',
  'publishing-expire-intents',
  MAINTAIN,
  SWEEP,
  ...OF_ALLOCATIONS,
  'selftest-answer-selftest',
  'selftest-end-selftest',
  'selftest-react-to-events',
  'selftest-sweep-selftests',
  'tasks-sweep-tasks',
];
/** What puts tasks into the queues of nodes. */
const TASK_SENDERS = ['tasks-react-to-events', 'tasks-sweep-tasks'];
const CLEANERS = ['retention-api', SWEEP];
/** What moves or forgets artifacts, and what of it decides whether they are trusted. */
const MOVERS = ['artifacts-api', ...OF_ARTIFACTS, MAINTAIN];
const JUDGES = ['artifacts-api', 'artifacts-verify-for-promotion', MAINTAIN];

type Crossing = [who: string | string[], to: string, may: string, why: string];

/** Who crosses which border. Nothing else is allowed, and each of these is. */
const CROSSINGS: Crossing[] = [
  // What the kernel does in every domain.
  [APIS, AUTHORIZATION_PARTITIONS.join(' '), 'BatchGetItem', 'knows who calls, and what they may'],
  [APIS, 'RECEIPT#*', 'GetItem PutItem', 'answers again as it did the first time'],
  [[...APIS, ...BY_THEMSELVES], 'AUDIT#* OUTBOX#*', 'PutItem', 'tells what it changes'],
  [REACTIONS, 'OUTBOX#*', 'GetItem', 'reads the event it is pointed to'],

  // Whoever runs something counts it; who must know whether anything runs asks.
  ['catalog-api', 'COUNTER#version#*', 'GetItem BatchGetItem', 'tells how many instances use a version'],
  [OF_VERSIONS, 'COUNTER#version#*', 'BatchGetItem ConditionCheckItem', 'retires what nobody uses'],
  ['identity-api', 'COUNTER#project#*', 'ConditionCheckItem', 'archives a project in which nothing runs'],

  // Events.
  ['events-api', 'AUDIT#*', 'Query gsi1.Query', 'shows the audit log'],
  [RELAYS, 'OUTBOX#*', 'BatchGetItem', 'relays what others have committed'],
  [RELAYS, 'USER#* SERVICE_ACCOUNT#*', 'BatchGetItem', 'pushes to who still may follow'],
  [SOCKETS, 'USER#* SERVICE_ACCOUNT#*', 'BatchGetItem', 'lets in who still may follow'],
  ['events-sweep-outbox', OUTBOX_SHARDS.join(' '), 'gsi1.Query', 'looks for what was never relayed'],
  ['selftest-api', 'TICKET#*', 'PutItem', 'lets who asks for a run follow it'],

  // A promotion's row is written by the functions of what is promoted.
  [['catalog-api', ...OF_VERSIONS], 'PROMOTION#version#*', 'GetItem BatchGetItem UpdateItem', 'promotes'],
  ['manifests-check-version', 'PROMOTION#version#*', 'GetItem UpdateItem', 'keeps what the gate has found'],
  [['artifacts-api', ...OF_ARTIFACTS], 'PROMOTION#artifact#*', 'GetItem BatchGetItem UpdateItem', 'promotes'],
  [
    'catalog-api',
    'PROMOTION_POLICY',
    'GetItem BatchGetItem PutItem',
    'shows and sets the policy, goes by it',
  ],
  ['artifacts-api', 'PROMOTION_POLICY', 'BatchGetItem', 'goes by the policy'],
  ['catalog-sweep-promotions', 'PROMOTIONS#OPEN#version', 'gsi1.Query', 'finds what hangs'],
  ['artifacts-sweep-promotions', 'PROMOTIONS#OPEN#artifact', 'gsi1.Query', 'finds what hangs'],
  ['manifests-api', 'PROMOTION#version#*', 'BatchGetItem ConditionCheckItem', 'replaces no draft under way'],
  [MAINTAIN, 'PROMOTION#artifact#*', 'BatchGetItem DeleteItem', 'forgets it with its draft'],

  // A manifest becomes a version of an app, and is checked before the version is staged.
  ['manifests-api', 'CATALOG APP#*', 'BatchGetItem PutItem UpdateItem', 'registers the version'],
  ['manifests-check-version', 'APP#*', 'GetItem', 'reads the manifest'],

  // A version never outranks its artifacts, and its app says whether they are trusted.
  [
    'catalog-api',
    'ARTIFACT#*',
    'BatchGetItem ConditionCheckItem',
    'promotes no version before its artifacts',
  ],
  [OF_VERSIONS, 'ARTIFACT#*', 'BatchGetItem ConditionCheckItem', 'moves a version while they are ready'],
  [MOVERS, 'CATALOG APP#*', 'BatchGetItem', 'finds the version that names the artifact'],
  [MOVERS, 'APP#*', 'ConditionCheckItem', 'holds it while the artifact moves'],
  [JUDGES, 'CATALOG', 'PutItem UpdateItem', 'tells the app that trust was lost, or found again'],

  // What is published.
  ['publishing-api', 'CATALOG', 'GetItem', 'knows whose the app is'],
  ['publishing-api', 'TRUST', 'Query', 'says what a signature must be'],
  ['publishing-api', 'REPOSITORIES', 'UpdateItem', 'opens the repository'],
  ['artifacts-api', 'REPOSITORIES', 'ConditionCheckItem', 'registers nothing that is being removed'],
  ['artifacts-api', 'PROJECT#*', 'ConditionCheckItem', 'registers nothing in an archived project'],

  // Who holds what of which host. Capacity is taken and given back, and hosts are asked for what that needs, in one
  // transaction with the allocation or the volume.
  [
    ['allocations-api', 'allocations-sweep-allocations'],
    'NODES',
    'gsi1.Query',
    'knows which hosts there are',
  ],
  [
    ['allocations-api', ...OF_ALLOCATIONS],
    'NODE#*',
    'BatchGetItem Query PutItem UpdateItem ConditionCheckItem',
    'holds and frees capacity, while the host is as it was judged; numbers what it asks of it',
  ],
  [['allocations-api', ...OF_ALLOCATIONS], 'TASK#*', 'PutItem', 'asks a host'],
  [OF_ALLOCATIONS, 'TASK#*', 'BatchGetItem', 'reads how it answered'],
  ['allocations-api', 'PROJECT#*', 'ConditionCheckItem', 'allocates nothing in an archived project'],

  // Who a node is is known where it joins. Whatever is written there gives the role of a node, in that node's place.
  ['nodes-api', 'NODE_PRINCIPAL#*', 'BatchGetItem PutItem DeleteItem', 'lets hosts join, and ends it'],

  // What a host is asked to hold, and the numbers of what it is asked, stand beside the node.
  [
    'tasks-api',
    'NODE#*',
    'GetItem BatchGetItem Query PutItem UpdateItem DeleteItem',
    'keeps what a host is to hold, and counts what is asked of it',
  ],

  // A host is asked to run only what is verified, and told what was revoked.
  ['tasks-api', 'REPOSITORIES ARTIFACT#* CONTENT#*', 'BatchGetItem', 'launches what is verified'],
  ['tasks-api', 'TRUST', 'Query', 'signs what hosts judge images by'],
  [TASK_SENDERS, 'TRUST', 'GetItem', 'names the revision a host must know'],

  // Retention has no rows of its own: it looks after those of artifacts.
  [MAINTAIN, 'ARTIFACT#*', 'GetItem BatchGetItem PutItem UpdateItem DeleteItem', 'verifies, forgets drafts'],
  [MAINTAIN, 'CONTENT#*', 'UpdateItem', 'lets go of the bytes of a draft'],
  [MAINTAIN, 'TRUST', 'Query', 'goes by the trust policies'],
  [MAINTAIN, 'ARTIFACTS#DUE', 'gsi1.Query', 'finds what is due'],
  [CLEANERS, 'REPOSITORIES', 'Query', 'goes through the repositories'],
  [CLEANERS, 'ARTIFACTS#* ARTIFACTS#DUE', 'gsi1.Query', 'spares what is registered'],
  [SWEEP, 'ARTIFACT#* CONTENT#*', 'BatchGetItem', 'spares what was registered a moment ago'],
  [SWEEP, 'REPOSITORIES', 'UpdateItem', 'claims what it cleans'],
];

type Reached = Record<string, string[]>;

const owned: { owner: string; table: readonly string[]; gsi1?: readonly string[] }[] = Object.entries(
  PARTITIONS,
).map(([owner, of]) => ({ owner, ...of }));

/** What the function may do in partitions of others, by the table above. */
function expected(name: string): Reached {
  const reached = new Map<string, Set<string>>();
  for (const [who, to, may] of CROSSINGS) {
    if (![who].flat().includes(name)) continue;
    for (const partition of to.split(' ').filter((each) => !ownersOf(each).includes(domainOf(name))))
      reached.set(partition, new Set([...(reached.get(partition) ?? []), ...may.split(' ')]));
  }
  return Object.fromEntries([...reached].map(([partition, actions]) => [partition, [...actions].sort()]));
}

const ownersOf = (partition: string): string[] =>
  owned.filter(({ table, gsi1 = [] }) => [...table, ...gsi1].includes(partition)).map(({ owner }) => owner);

let roles: FunctionRoles;
const reached = new Map<string, Reached>();

beforeAll(async () => {
  roles = await openFunctionRoles(outdir);
  for (const name of functions) reached.set(name, reachOf(name));
});

/** What the function's role lets it do in partitions of others, each action tried. */
function reachOf(name: string): Reached {
  const found: Reached = {};
  for (const { owner, table, gsi1 = [] } of owned) {
    if (owner === domainOf(name)) continue;
    for (const partition of new Set([...table, ...gsi1])) {
      const onTable = table.includes(partition) ? roles.reach(name, partition) : [];
      const onIndex = gsi1.includes(partition) ? roles.reachByIndex(name, partition) : [];
      const actions = [...onTable, ...onIndex].sort();
      if (actions.length > 0) found[partition] = actions;
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
    const isDeclared = ({ on, partition }: ReturnType<FunctionRoles['grants']>[number]) =>
      all(on).some((each) => each.partition === partition);
    expect(roles.grants().filter((grant) => !isDeclared(grant))).toEqual([]);
  });
});

/** Whether the first has everything in it that the second has, or it is the same. */
const covers = (one: string, other: string): boolean =>
  one === other || (one.endsWith('*') && other.startsWith(one.slice(0, -1)));

describe('a function reaches its own partitions and, of others, what is listed', () => {
  test.each(functions)('%s', (name) => {
    expect(reached.get(name)).toEqual(expected(name));
  });

  test('and the list names functions and partitions that are there', () => {
    expect(functions).toEqual(expect.arrayContaining(CROSSINGS.flatMap(([who]) => who)));
    const crossed = CROSSINGS.flatMap(([, to]) => to.split(' '));
    expect(crossed.filter((partition) => ownersOf(partition).length !== 1)).toEqual([]);
  });
});

const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem']);

test('nobody but identity may write what authorization reads, but for who a node is, which nodes say', () => {
  const written = [...reached].flatMap(([name, of]) =>
    AUTHORIZATION_PARTITIONS.filter((partition) => of[partition]?.some((action) => WRITES.has(action))).map(
      (partition) => [name, partition],
    ),
  );
  expect(written).toEqual([['nodes-api', 'NODE_PRINCIPAL#*']]);
  expect(functions.filter((name) => domainOf(name) === 'identity')).toEqual(['identity-api']);
});

test('a role that is no function’s reaches no table', () => {
  expect(roles.others().filter((policies) => policies.includes('dynamodb:'))).toEqual([]);
});
