import type { Mutant } from './mutant.ts';

export const tasks: Mutant[] = [
  {
    what: 'a workload is gone because its host says so',
    file: 'functions/tasks/outcome.ts',
    from: "if (!isRemoval(kind) || receipt === 'valid') return { status: 'succeeded' };",
    to: "if (!isRemoval(kind) || receipt !== 'leftovers') return { status: 'succeeded' };",
    noticedBy: ['test/tasks/outcome.test.ts', 'test/tasks/tasks.test.ts'],
  },
  {
    what: 'a receipt is believed whatever was signed',
    file: 'functions/tasks/verify-receipt.ts',
    from: "if (!isDeepStrictEqual(signed, receipt)) return 'forged';",
    to: "if (!signed) return 'forged';",
    noticedBy: ['test/tasks/tasks.test.ts'],
  },
  {
    what: 'a receipt of an earlier removal is shown again',
    file: 'functions/tasks/verify-receipt.ts',
    from: 'task_id !== task.id || ',
    to: '',
    noticedBy: ['test/tasks/tasks.test.ts'],
  },
  {
    what: 'a node ends the tasks of another',
    file: 'functions/tasks/end-task.ts',
    from: 'if (task.node_id !== nodeId) {',
    to: 'if (task.node_id === nodeId && found.outcome) {',
    noticedBy: ['test/tasks/tasks.test.ts'],
  },
  {
    what: 'the same number is given out twice',
    file: 'functions/tasks/workload-store.ts',
    from: 'before ? replace(item, { version: before.version }) : putNew(item)',
    to: 'before ? replace(item, { sk: item.sk }) : putNew(item)',
    noticedBy: ['test/tasks/tasks.test.ts'],
  },
  {
    what: 'a node pulls whatever it asks for',
    file: 'functions/tasks/issue-pull-credentials.ts',
    from: 'if (unassigned.length > 0)',
    to: 'if (unassigned.length > repositories.length)',
    noticedBy: ['test/tasks/pull-credentials.test.ts'],
  },
  {
    what: 'a secret is given to whoever has its handle',
    file: 'functions/tasks/secret.ts',
    from: "if (secret.node_id !== nodeId) return 'foreign';",
    to: '',
    noticedBy: ['test/tasks/secrets.test.ts'],
  },
  {
    what: 'a secret is given as often as people ask at once',
    file: 'functions/tasks/secret-store.ts',
    from: 'attribute_exists(pk) AND (attribute_not_exists(fetch_id) OR fetch_id = :fetch)',
    to: 'attribute_exists(pk) AND (attribute_not_exists(fetch_id) OR fetch_id <> :now)',
    noticedBy: ['test/tasks/secrets.test.ts'],
  },
  {
    what: 'a host is told that what was revoked is approved',
    file: 'functions/tasks/trust-document.ts',
    from: "status: isRevoked ? 'revoked' : 'approved'",
    to: "status: 'approved'",
    noticedBy: ['test/tasks/trust.test.ts'],
  },
  {
    what: 'who may see a task may see the handles of its secrets',
    file: 'functions/tasks/task-row.ts',
    from: ".filter(([name]) => name !== 'handle')",
    to: '',
    noticedBy: ['test/tasks/outcome.test.ts'],
  },
];
