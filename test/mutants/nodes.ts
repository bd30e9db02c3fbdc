import type { Mutant } from './mutant.ts';

export const nodes: Mutant[] = [
  {
    what: 'a join token admits a second host',
    file: 'functions/nodes/enrolment.ts',
    from: "if (joined_by !== undefined) return 'join_token.used';",
    to: '',
    noticedBy: ['test/nodes/enrolment.test.ts'],
  },
  {
    what: 'a join token is good for ever',
    file: 'functions/nodes/enrolment.ts',
    from: 'if (now >= new Date(join_expires_at))',
    to: "if (join_expires_at === '')",
    noticedBy: ['test/nodes/enrolment.test.ts'],
  },
  {
    what: 'anybody may bring a key that they only know',
    file: 'functions/nodes/enrol-node.ts',
    from: "if (!(await holdsKey(body, id, now))) throw refuse('node.proof_invalid');",
    to: '',
    noticedBy: ['test/nodes/enrolment.test.ts'],
  },
  {
    what: 'two nodes join with one key at the same moment',
    file: 'functions/nodes/node-store.ts',
    from: 'const taken = putNew({ ...nodeKeyHolderKey(thumbprint), node_id: id });',
    to: 'const taken = put({ ...nodeKeyHolderKey(thumbprint), node_id: id });',
    noticedBy: ['test/nodes/enrolment.test.ts'],
  },
  {
    what: 'a node that was removed goes on',
    file: 'functions/nodes/remove-node.ts',
    from: 'savePrincipal(principal, revoked(principal)),',
    to: '',
    noticedBy: ['test/nodes/node.test.ts'],
  },
  {
    what: 'a copied key is never noticed',
    file: 'functions/nodes/heartbeat-store.ts',
    from: 'attribute_not_exists(run_id) OR run_id = :run_id OR run_started_at < :run_started_at',
    to: 'attribute_not_exists(run_id) OR run_id = :run_id OR run_started_at <> :run_started_at',
    noticedBy: ['test/nodes/heartbeat.test.ts'],
  },
  {
    what: 'a host that is heard of is marked as lost',
    file: 'functions/nodes/heartbeat-store.ts',
    from: "{ condition: '#at = :seen', names: { '#at': 'at' }, values: { ':seen': at } },",
    to: "{ condition: '#at <= :seen OR #at > :seen', names: { '#at': 'at' }, values: { ':seen': at } },",
    noticedBy: ['test/nodes/heartbeat.test.ts'],
  },
  {
    what: 'a node is removed under what runs on it',
    file: 'functions/nodes/remove-node.ts',
    from: 'if (isRunning) throw',
    to: "if (isRunning && status === 'pending') throw",
    noticedBy: ['test/nodes/node.test.ts'],
  },
  {
    what: 'a toolkit with a known escape is good enough',
    file: 'functions/nodes/placeable.ts',
    from: 'compareVersions(version, fixedIn) < 0',
    to: 'compareVersions(fixedIn, version) < 0',
    noticedBy: ['test/nodes/placeable.test.ts'],
  },
];
