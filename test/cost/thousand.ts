import type { Flow } from './count-flows.ts';
import { HOURS_A_MONTH, type Line } from './line.ts';

/** Budgets of the design and guesses, until instances exist and can be counted. */
const ASSUMED = {
  instances: 1_000,
  nodes: 125,
  /** Of one instance in a month: it is launched, and torn down. */
  operations: 2,
  /** Of an operation: the caller's request and the agent's report, each a command. */
  requests: 2,
  /** Of an operation: steps that call a function. */
  steps: 2,
  transitions: 12,
  events: 3,
  /** Of one instance in a month: somebody or something looks at it. */
  looks: 100,
  /** Of a node: one question in twenty seconds, and a little more. */
  pollsAnHour: 189,
  /** Of an instance. */
  usageRecordsAnHour: 2,
  usageRecordsABatch: 100,
  recordGb: 0.5e-6,
  secondsACall: 0.05,
  memoryGb: 0.5,
} as const;

export function thousandLines(flows: Flow[]): Line[] {
  const find = (what: string): Flow => {
    const found = flows.find((each) => each.what === what);
    if (!found) throw new Error(`Nobody has counted “${what}”.`);
    return found;
  };
  const commands = flows.filter(({ requests, writes }) => requests > 0 && writes > 0);
  const average = (value: (flow: Flow) => number): number =>
    commands.reduce((sum, flow) => sum + value(flow), 0) / commands.length;
  const look = find('a project looks at what it may launch');
  const relayed = find('an event is relayed');
  const dispatched = find('an event is dispatched');

  const a = ASSUMED;
  const operations = a.instances * a.operations;
  const changes = operations * (a.requests + a.steps);
  const looks = a.instances * a.looks;
  const events = operations * a.events;
  const records = a.instances * a.usageRecordsAnHour * HOURS_A_MONTH;
  const invocations = changes + looks + 2 * events + records / a.usageRecordsABatch;
  const keptGb = 2 * records * a.recordGb;
  const logBytes =
    changes * average((flow) => flow.logBytes) +
    looks * look.logBytes +
    events * (relayed.logBytes + dispatched.logBytes);
  return [
    {
      what: 'nodes ask for work',
      count: a.nodes * a.pollsAnHour * HOURS_A_MONTH,
      price: 'sqs',
      why: `assumed: ${a.nodes} nodes, ${a.pollsAnHour} an hour`,
    },
    {
      what: 'usage and ledger',
      count: 2 * records,
      price: 'write',
      why: `assumed: ${a.usageRecordsAnHour} records an instance-hour, each priced once`,
    },
    {
      what: 'usage and ledger, kept',
      count: keptGb,
      price: 'tableKept',
      why: 'assumed: 0.5 kB each; the first month',
    },
    { what: 'and to be recovered', count: keptGb, price: 'backupKept', why: 'the same' },
    {
      what: 'changes',
      count: changes * average((flow) => flow.writes),
      price: 'write',
      why: `assumed: ${changes} changes; the average of those counted above`,
    },
    {
      what: 'events',
      count: events * (relayed.writes + dispatched.writes),
      price: 'write',
      why: `assumed: ${a.events} an operation; counted above`,
    },
    {
      what: 'reads',
      count: changes * average((flow) => flow.reads) + looks * look.reads + events * relayed.reads,
      price: 'read',
      why: `assumed: ${a.looks} looks an instance; counted above`,
    },
    {
      what: 'workflows',
      count: operations * a.transitions,
      price: 'transition',
      why: `assumed: ${a.transitions} an operation`,
    },
    { what: 'requests', count: operations * a.requests + looks, price: 'request', why: 'as above' },
    { what: 'events on the bus', count: events, price: 'event', why: 'as above' },
    { what: 'invocations', count: invocations, price: 'invocation', why: 'as above' },
    {
      what: 'their time',
      count: invocations * a.memoryGb * a.secondsACall,
      price: 'gbSecond',
      why: `assumed: ${a.secondsACall} s each`,
    },
    {
      what: 'traces, at most',
      count: invocations,
      price: 'trace',
      why: 'fewer, once there is more than one a second',
    },
    { what: 'log', count: logBytes / 1e9, price: 'logIngested', why: 'counted above' },
  ];
}
