import type { Header, OpenapiDocument, Operation, Parameter, Ref } from '../functions/docs/document.ts';
import type { Domain } from '../functions/routes.ts';
import manifest from '../package.json' with { type: 'json' };
import { type RouteInFull, routesInFull } from './endpoints.ts';
import { describeOperation } from './openapi-operation.ts';
import { Problem, problemAnswers, problemKinds } from './openapi-problems.ts';
import { nameSchemas } from './openapi-schemas.ts';

const DOMAINS: Record<Domain, string> = {
  identity: 'Organisations, projects, people, service accounts and tokens.',
  events: 'What happened: the audit log, the event feed, and tickets to follow it live.',
  catalog: 'Apps, their versions and how these are promoted; what projects may launch.',
  publishing: 'Where images and files are published, and the credentials to do so.',
  artifacts: 'Images and files: how they are registered, trusted, promoted and revoked.',
  retention: 'What was published and is needed by no artifact.',
  manifests: 'What app teams say of their apps: manifests, submissions and their review.',
  selftest: 'Whether the platform works, over every kind of wire it has.',
  docs: 'This description, that of the events, and the schema of app manifests.',
};

const DESCRIPTION = `A control plane that turns GPU hosts into an app platform.

Send a bearer token: a person's from the sign-in of this platform, a service account's from its token route. What somebody else owns looks just like what does not exist.

A request that creates something needs an X-Idempotency-Key header: sent again with the same key it gives the first answer again, for 24 hours. Other changes may have one.

Lists give items and next_cursor; ask again with ?cursor= until it is null. Things people edit carry an ETag; send it back as If-Match so as not to overwrite somebody else's change.

Every refusal is a problem document with a code to match on. RateLimit tells how many requests are left; after a 429 or 503 wait as long as Retry-After says.`;

/** The API described: made of the same table the gateway is made of, and of what the endpoints say they take and give. */
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
  RequestId: { description: 'The id under which the request is found again', schema: { type: 'string' } },
  RateLimitPolicy: {
    description: 'The limits that count this request: q requests in w seconds',
    schema: { type: 'string' },
  },
  RateLimit: {
    description: 'Where the caller stands: r requests left, all of them again in t seconds',
    schema: { type: 'string' },
  },
  RetryAfter: { description: 'Seconds to wait', schema: { type: 'integer', minimum: 0 } },
  WwwAuthenticate: { description: 'How to prove who one is', schema: { type: 'string' } },
  ETag: { description: 'The version; send it back as If-Match', schema: { type: 'string' } },
  Location: { description: 'Where what was made is found', schema: { type: 'string' } },
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
