import type { Deployed, Resource } from './deployed.ts';
import { bytes, count, type Limit } from './limit.ts';

const API = 'AWS::ApiGatewayV2::Api';
const HTTP_QUOTAS = 'https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html';
const ACCOUNT_QUOTAS = 'https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html';
const SOCKET_ROUTES =
  'https://docs.aws.amazon.com/apigateway/latest/developerguide/websocket-api-develop-routes.html';
const SOCKET_LOGS = 'https://docs.aws.amazon.com/apigateway/latest/developerguide/websocket-api-logging.html';
const FIREWALL = 'https://docs.aws.amazon.com/waf/latest/developerguide/how-aws-waf-works-resources.html';
const FIREWALL_QUOTAS = 'https://docs.aws.amazon.com/waf/latest/developerguide/limits.html';
const STAGES = 'https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-stages.html';
const ROUTES = 'https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-routes.html';

const PARTS: Record<string, { what: string; max: number; hint: string }> = {
  'AWS::ApiGatewayV2::Route': { what: 'routes', max: 300, hint: 'Ask AWS for more, or make another API.' },
  'AWS::ApiGatewayV2::Integration': {
    what: 'integrations',
    max: 300,
    hint: 'AWS does not raise it: let routes share one.',
  },
  'AWS::ApiGatewayV2::Stage': { what: 'stages', max: 10, hint: 'Ask AWS for more, or make another API.' },
};

const INTEGRATION_SECONDS_MAX = { HTTP: 30, WEBSOCKET: 29 };
const TIMEOUT_SECONDS = 3;
const RATE_MAX = 10_000;
const BURST_MAX = 5_000;
const RATE_RULES_MAX = 10;
const RATE_MIN = 10;
const RESPONSE_BYTES_MAX = 4096;
const ROUTE_KEY = /^(\$default|(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|ANY) \/\S*)$/;

interface FirewallRule {
  Priority: number;
  Statement?: { RateBasedStatement?: { Limit: number } };
}

/** Parts of one API may stand in several stacks: the same id means the same API. */
function partsOf(deployed: Deployed, type: string): Map<string, Resource[]> {
  return Map.groupBy(deployed.ofType(type), ({ properties }) => String(properties['ApiId']));
}

const nameOf = (deployed: Deployed, apiId: string): string => deployed.named(apiId)?.name ?? apiId;

const parts: Limit[] = Object.entries(PARTS).map(([type, { what, max, hint }]) => ({
  name: `${what} of an API`,
  source: HTTP_QUOTAS,
  check: (deployed) =>
    [...partsOf(deployed, type)]
      .filter(([, each]) => each.length > max)
      .map(
        ([apiId, each]) =>
          `${nameOf(deployed, apiId)}: it has ${each.length} ${what}; an API has at most ${max}. ${hint}`,
      ),
}));

const routeKeys: Limit = {
  name: 'route keys',
  source: ROUTES,
  check: (deployed) =>
    [...partsOf(deployed, 'AWS::ApiGatewayV2::Route')].flatMap(([apiId, routes]) => {
      const isHttp = deployed.named(apiId)?.properties['ProtocolType'] === 'HTTP';
      const keyOf = ({ properties }: Resource): string => String(properties['RouteKey']);
      const twice = [...Map.groupBy(routes, keyOf)]
        .filter(([, same]) => same.length > 1)
        .map(
          ([, same]) =>
            `${same.map(({ name }) => name).join(', ')}: an API has the route ${keyOf(same[0] as Resource)} once.`,
        );
      const odd = routes
        .filter((route) => isHttp && !ROUTE_KEY.test(keyOf(route)))
        .map((route) => `${route.name}: ${keyOf(route)} is not a route. Write METHOD /path or $default.`);
      return [...twice, ...odd];
    }),
};

const timeouts: Limit = {
  name: 'time to answer',
  source: HTTP_QUOTAS,
  check: (deployed) =>
    deployed.ofType('AWS::ApiGatewayV2::Integration').flatMap(({ name, properties }) => {
      const protocol = deployed.named(properties['ApiId'])?.properties['ProtocolType'];
      const max = protocol === 'WEBSOCKET' ? INTEGRATION_SECONDS_MAX.WEBSOCKET : INTEGRATION_SECONDS_MAX.HTTP;
      const milliseconds = Number(properties['TimeoutInMillis'] ?? max * 1000);
      if (milliseconds < 50 || milliseconds > max * 1000)
        return [`${name}: TimeoutInMillis is ${milliseconds} and must be from 50 to ${count(max * 1000)}.`];
      const arn = /arn:aws:lambda:[^/]+/.exec(String(properties['IntegrationUri']))?.[0];
      const fn = deployed.named(arn);
      const seconds = Number(fn?.properties['Timeout'] ?? TIMEOUT_SECONDS);
      if (fn === undefined || seconds * 1000 <= milliseconds) return [];
      return [
        `${fn.name}: it may run for ${seconds} s, and API Gateway answers for it after ${milliseconds / 1000} s. Lower Timeout.`,
      ];
    }),
};

const throttles: Limit = {
  name: 'throttle of a stage',
  source: ACCOUNT_QUOTAS,
  check: (deployed) =>
    deployed.ofType('AWS::ApiGatewayV2::Stage').flatMap(({ name, properties }) =>
      [
        properties['DefaultRouteSettings'] ?? {},
        ...Object.values<Record<string, unknown>>(properties['RouteSettings'] ?? {}),
      ].flatMap(({ ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst }) => {
        if (rate === undefined && burst === undefined) return [];
        if (within(rate, RATE_MAX) && within(burst, BURST_MAX)) return [];
        return [
          `${name}: it lets through ${String(rate)} requests a second and ${String(burst)} at once. ` +
            `Set both: the rate from 1 to ${count(RATE_MAX)}, the burst from 1 to ${count(BURST_MAX)}, as the account’s quotas are.`,
        ];
      }),
    ),
};

const socketStages: Limit = {
  name: 'stages of a WebSocket API',
  source: STAGES,
  check: (deployed) =>
    socketStagesOf(deployed)
      .filter(({ properties }) => !/^[\w-]{1,128}$/.test(properties['StageName']))
      .map(
        ({ name, properties }) =>
          `${name}: ${properties['StageName']} cannot be the stage of a WebSocket API. Use letters, digits, - and _.`,
      ),
};

/** HTTP APIs write logs by themselves; WebSocket APIs do so as a role of the whole account. */
const socketLogs: Limit = {
  name: 'logs of a WebSocket API',
  source: SOCKET_LOGS,
  check: (deployed) => {
    if (deployed.ofType('AWS::ApiGateway::Account').length > 0) return [];
    return socketStagesOf(deployed)
      .filter(({ properties }) => {
        const level = properties['DefaultRouteSettings']?.LoggingLevel ?? 'OFF';
        return properties['AccessLogSettings'] !== undefined || level !== 'OFF';
      })
      .map(({ name }) => `${name}: it logs, and no AWS::ApiGateway::Account names the role to log as.`);
  },
};

const socketRoutes: Limit = {
  name: 'route selection of a WebSocket API',
  source: SOCKET_ROUTES,
  check: (deployed) =>
    deployed
      .ofType(API)
      .filter(({ properties }) => properties['ProtocolType'] === 'WEBSOCKET')
      .filter(({ properties }) => properties['RouteSelectionExpression'] === undefined)
      .map(
        ({ name }) => `${name}: a WebSocket API must say how routes are selected: RouteSelectionExpression.`,
      ),
};

const firewalls: Limit = {
  name: 'firewall of an API',
  source: FIREWALL,
  check: (deployed) =>
    deployed
      .ofType('AWS::WAFv2::WebACLAssociation')
      .filter(({ properties }) => String(properties['ResourceArn']).includes('/apis/'))
      .map(
        ({ name }) => `${name}: AWS WAF does not protect HTTP and WebSocket APIs. Put CloudFront before it.`,
      ),
};

const firewallRules: Limit = {
  name: 'rules of a firewall',
  source: FIREWALL_QUOTAS,
  check: (deployed) =>
    deployed.ofType('AWS::WAFv2::WebACL').flatMap(({ name, properties }) => {
      const rules: FirewallRule[] = properties['Rules'] ?? [];
      const rates = rules.flatMap(({ Statement }) => Statement?.RateBasedStatement?.Limit ?? []);
      const bodies = Object.entries<{ Content: string }>(properties['CustomResponseBodies'] ?? {});
      const faults = [
        new Set(rules.map(({ Priority }) => Priority)).size < rules.length &&
          'two rules have the same Priority',
        rates.length > RATE_RULES_MAX &&
          `it has ${rates.length} rules of a rate; at most ${RATE_RULES_MAX} are taken`,
        ...rates.filter((rate) => rate < RATE_MIN).map((rate) => `a rate of ${rate} is below ${RATE_MIN}`),
        ...bodies
          .filter(([, { Content }]) => bytes(Content) > RESPONSE_BYTES_MAX)
          .map(([key]) => `the response ${key} has more than 4 KB`),
      ];
      return faults.filter((fault) => fault !== false).map((fault) => `${name}: ${fault}.`);
    }),
};

function socketStagesOf(deployed: Deployed): Resource[] {
  return deployed
    .ofType('AWS::ApiGatewayV2::Stage')
    .filter(
      ({ properties }) => deployed.named(properties['ApiId'])?.properties['ProtocolType'] === 'WEBSOCKET',
    );
}

function within(value: unknown, max: number): boolean {
  return typeof value === 'number' && value >= 1 && value <= max;
}

export const gatewayLimits = [
  ...parts,
  routeKeys,
  timeouts,
  throttles,
  socketStages,
  socketLogs,
  socketRoutes,
  firewalls,
  firewallRules,
];
