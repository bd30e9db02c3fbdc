import { filledBy, tableOf } from '../../bin/architecture/marked-page.ts';
import type { Flow } from './count-flows.ts';
import { type Line, sumOf, usdOf } from './line.ts';
import { costOf, type PriceName, PRICES, PRICES_AS_OF } from './prices.ts';

/** What is paid by how much of it there is. */
const BY_AMOUNT: PriceName[] = [
  'tableKept',
  'backupKept',
  'objectKept',
  'imageKept',
  'person',
  'personPlus',
  'frontRequest',
  'firewallRequest',
];

/** Which the gateway can keep of each route: 4xx, 5xx, Count, Latency, IntegrationLatency and DataProcessed. */
const GATEWAY_METRICS = 6;

interface Counted {
  /** How many the API has. */
  routes: number;
  idle: Line[];
  fixed: Line[];
  flows: Flow[];
  thousand: Line[];
}

/** The page with its tables made anew. */
export function withCost(page: string, { routes, idle, fixed, flows, thousand }: Counted): string {
  return filledBy('cost', page, {
    prices: [`List prices of us-east-1, ${PRICES_AS_OF}, in US dollars, without any free tier.`],
    idle: [billOf(idle)],
    amounts: [
      tableOf(
        ['what', 'price'],
        BY_AMOUNT.map((name) => [PRICES[name].unit, priceOf(name)]),
      ),
    ],
    fixed: [billOf(fixed, false), byRoute(routes)],
    flows: [takenOf(flows)],
    thousand: [billOf(thousand)],
  });
}

function billOf(lines: Line[], isSummed = true): string {
  const rows = lines.map((line) => [
    line.what,
    amount(line.count),
    `${priceOf(line.price)} ${PRICES[line.price].unit}`,
    usd(usdOf(line)),
    line.why,
  ]);
  const sum = isSummed ? [['**together**', '', '', `**${usd(sumOf(lines))}**`, '']] : [];
  return tableOf(['what', 'count', 'price', 'a month', 'counted from'], [...rows, ...sum]);
}

function takenOf(flows: Flow[]): string {
  const rows = flows.map((flow) => [
    flow.what,
    ...[flow.requests, flow.reads, flow.writes, flow.events, flow.invocations, flow.transitions].map(String),
    (flow.logBytes / 1000).toFixed(1),
    usd(1e6 * usdOfFlow(flow)),
  ]);
  const head = [
    'what happens',
    'requests',
    'read units',
    'write units',
    'events',
    'functions',
    'transitions',
    'log kB',
  ];
  return tableOf([...head, 'a million times'], rows);
}

/** Without time and storage, and without what its events then take. */
const usdOfFlow = (flow: Flow): number =>
  costOf('request', flow.requests) +
  costOf('read', flow.reads) +
  costOf('write', flow.writes) +
  costOf('invocation', flow.invocations) +
  costOf('transition', flow.transitions) +
  costOf('logIngested', flow.logBytes / 1e9);

function byRoute(routes: number): string {
  const metrics = routes * (GATEWAY_METRICS + 3);
  return `By route instead of by domain, in the gateway and by us, ${routes} routes would have ${amount(metrics)} metrics, for ${usd(costOf('metric', metrics))} a month.`;
}

function priceOf(name: PriceName): string {
  const { usd: dollars, per } = PRICES[name];
  const cents = dollars.toFixed(2);
  return `$${Number(cents) === dollars ? cents : dollars} ${per === 1 ? 'for each' : `for ${per.toLocaleString('en-US')}`}`;
}

const usd = (dollars: number): string => `$${dollars.toFixed(2)}`;

function amount(count: number): string {
  if (count >= 100 || Number.isInteger(count)) return Math.round(count).toLocaleString('en-US');
  return count.toPrecision(2);
}
