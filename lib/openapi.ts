import type { Header, OpenapiDocument, Operation, Parameter, Ref } from '../functions/docs/document.ts';
import type { Domain } from '../functions/routes.ts';
import manifest from '../package.json' with { type: 'json' };
import { type RouteInFull, routesInFull } from './endpoints.ts';
import { describeOperation } from './openapi-operation.ts';
import { Problem, problemAnswers, problemKinds } from './openapi-problems.ts';
import { nameSchemas } from './openapi-schemas.ts';

const DOMAINS: Record<Domain, string> = {
  identity: 'Organisations, projects, people, service accounts and tokens.',
  events: 'The audit log, the event feed, and tickets to follow it live.',
  catalog: 'Apps, their versions and the promotion of versions; what projects may launch.',
  publishing: 'Where to publish images and files, and the credentials for it.',
  artifacts: 'Images and files: registration, trust, promotion and revocation.',
  allocations: 'SKUs, allocations of capacity, where they are placed, and volumes.',
  retention: 'Published content that no artifact needs.',
  agent: 'The program that hosts run, and how a machine becomes a host.',
  nodes: 'Hosts: how they join, whether they are heard of, and what they tell of themselves.',
  tasks:
    'What hosts are asked to do, what runs on them, and what they need for it: images, secrets and trust.',
  manifests: 'App manifests, their submission and their review.',
  selftest: 'Health and self-tests of the platform.',
  docs: 'The descriptions of this API and of the events, and the schema of app manifests.',
};

const DESCRIPTION = `A control plane that turns GPU hosts into an app platform.

Send a bearer token: people get one by signing in, service accounts get one from the token route. A resource you may not see answers in the same way as one that does not exist.

A request that creates something needs an X-Idempotency-Key header: for 24 hours, the same request with the same key gets the first answer again. Other changes may have the header too.

A list returns items and next_cursor; repeat the request with ?cursor= until next_cursor is null. A list may be a moment behind: what was just changed may be missing or shown as it was, while a request for the thing itself shows it as it is. A resource that people edit has an ETag; send it as If-Match to avoid overwriting another person's change.

Every refusal is a problem document; match on its code. A path without a route is 404 route.unknown; a route with other methods is 405 and has them in Allow. The RateLimit header states how many requests are left; after a 429 or 503, wait as long as Retry-After states.

A few answers come from the gateway in front of the API, as {"message": …} and without Retry-After: 400 for a path that is not percent-encoded, 403 for a missing AWS signature, 413 and 431 for a body or headers beyond all limits, 429, 500 and 503 when it is overloaded or cannot reach the API. Try the last three again, after a second and then longer each time, with the same idempotency key.`;

/** The OpenAPI document, built from the route table of the gateway and the schemas of the endpoints. */
export function buildOpenapi(all: RouteInFull[] = routesInFull()): OpenapiDocument {
  const schemas = nameSchemas(all);
  const ids = operationIds(all);
  const described = all.map((route, index) => ({
    ...route,
    operation: describeOperation(route, ids[index] ?? '', schemas),
  }));
  const parameters = sharedParameters(described.flatMap(({ operation }) => operation.parameters));
  const paths: OpenapiDocument['paths'] = {};
  for (const { path, method, operation } of described) {
    const shared = operation.parameters.map((each) => refOrItself(each, parameters));
    (paths[path] ??= {})[method.toLowerCase()] = { ...operation, parameters: shared } satisfies Operation;
  }
  return {
    openapi: '3.1.0',
    info: { title: 'GPUaaS App Platform API', version: manifest.version, description: DESCRIPTION },
    servers: [{ url: '/' }],
    tags: Object.entries(DOMAINS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: { ...schemas.components, Problem },
      parameters,
      headers: HEADERS,
      responses: problemAnswers(),
      securitySchemes: SECURITY,
    },
    'x-problems': problemKinds,
  };
}

/** The handler's name; where it serves another route already, with what sets this one apart. */
function operationIds(all: RouteInFull[]): string[] {
  const firstOf = new Map<string, string>();
  return all.map(({ handler, path }) => {
    const first = firstOf.get(handler);
    if (first === undefined) {
      firstOf.set(handler, path);
      return handler;
    }
    const apart = path.split('/').find((segment) => !first.split('/').includes(segment)) ?? '';
    return `${handler}At${apart.replace(/(?:^|\W+)(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
  });
}

/** Those several routes have, under their own names; of two that differ under one name, the more frequent. */
function sharedParameters(all: Parameter[]): Record<string, Parameter> {
  const counts = new Map<string, number>();
  for (const each of all) counts.set(JSON.stringify(each), (counts.get(JSON.stringify(each)) ?? 0) + 1);
  const rarestFirst = [...counts].filter(([, count]) => count > 1).sort(([, a], [, b]) => a - b);
  const parameters = rarestFirst.map(([text]) => JSON.parse(text) as Parameter);
  return Object.fromEntries(parameters.map((each) => [componentName(each), each]));
}

function refOrItself(parameter: Parameter, shared: Record<string, Parameter>): Parameter | Ref {
  const name = componentName(parameter);
  const isShared = JSON.stringify(shared[name]) === JSON.stringify(parameter);
  return isShared ? { $ref: `#/components/parameters/${name}` } : parameter;
}

function componentName({ name, required, in: place }: Parameter): string {
  const capitalized = name.replace(/(?:^|[^A-Za-z]+)([A-Za-z])/g, (_, letter: string) =>
    letter.toUpperCase(),
  );
  return required && place === 'header' ? `${capitalized}Required` : capitalized;
}

const HEADERS: Record<string, Header> = {
  RequestId: {
    description: 'The id of the request in logs, events and the audit log',
    schema: { type: 'string' },
  },
  RateLimitPolicy: {
    description: 'The limits that apply to this request: q requests in w seconds',
    schema: { type: 'string' },
  },
  RateLimit: {
    description: 'What is left of the limits: r requests now, all of them again in t seconds',
    schema: { type: 'string' },
  },
  RetryAfter: { description: 'Seconds to wait', schema: { type: 'integer', minimum: 0 } },
  Allow: { description: 'The methods that the route takes', schema: { type: 'string' } },
  WwwAuthenticate: { description: 'The authentication scheme to use', schema: { type: 'string' } },
  ETag: { description: 'The version of the resource; send it as If-Match', schema: { type: 'string' } },
  Location: { description: 'The path of the created resource', schema: { type: 'string' } },
};

const SECURITY = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token of a person or a service account.',
  },
  sigv4: {
    type: 'apiKey',
    name: 'Authorization',
    in: 'header',
    'x-amazon-apigateway-authtype': 'awsSigv4',
    description: 'AWS Signature Version 4, with credentials of the platform team.',
  },
};
