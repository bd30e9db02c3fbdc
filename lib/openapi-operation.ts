import type { Answer, Media, Operation, Parameter, Ref, Schema } from '../functions/docs/document.ts';
import type { ProblemCode } from '../functions/problems.ts';
import type { RouteInFull } from './endpoints.ts';
import { exampleOf } from './openapi-examples.ts';
import { problemCodesOf, problemRefs } from './openapi-problems.ts';
import { membersOf, type Schemas } from './openapi-schemas.ts';

export interface DescribedOperation extends Operation {
  parameters: Parameter[];
}

/** One route, as the document describes it. Parameters stand in full: what routes share is taken out later. */
export function describeOperation(
  route: RouteInFull,
  operationId: string,
  schemas: Schemas,
): DescribedOperation {
  const { domain, permission, endpoint } = route;
  const codes = problemCodesOf(route);
  const requestBody = bodyOf(route, schemas);
  return {
    operationId,
    tags: [domain],
    summary: endpoint.spec.summary,
    'x-permission': permission,
    'x-problem-codes': codes,
    security: securityOf(permission),
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(route, codes)],
    ...(requestBody && { requestBody }),
    responses: { ...successOf(route, schemas), ...problemRefs(codes) },
  };
}

function securityOf(permission: RouteInFull['permission']): Operation['security'] {
  if (permission === 'public') return [];
  return [permission === 'iam' ? { sigv4: [] } : { bearer: [] }];
}

function pathParameters({ path, endpoint }: RouteInFull): Parameter[] {
  const members = membersOf(endpoint.spec.params);
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const schema = members.find((member) => member.name === name)?.schema;
    return { name, in: 'path', required: true, schema: schema ?? PLACE_ID };
  });
}

/** Authorization reads the project or organisation of a path, so most endpoints do not declare it. */
const PLACE_ID = { type: 'string', format: 'uuid' };

function queryParameters({ endpoint }: RouteInFull): Parameter[] {
  return membersOf(endpoint.spec.query).map(({ name, isRequired, schema }) => {
    const { description = QUERY[name], ...rest } = schema;
    return { name, in: 'query', ...(description && { description }), required: isRequired, schema: rest };
  });
}

const QUERY: Record<string, string> = {
  limit: 'The maximum number of items',
  cursor: 'The next_cursor of the previous page',
};

const REQUEST_ID: Parameter = {
  name: 'X-Request-ID',
  in: 'header',
  description:
    'Identifies the request in logs, events and the audit log, and is returned with the answer; generated if omitted',
  required: false,
  schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,128}$' },
};

const IDEMPOTENCY_KEY = {
  name: 'X-Idempotency-Key',
  in: 'header',
  description: 'For 24 hours, the same request with the same key gets the first answer again',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
} as const;

const IF_MATCH: Parameter = {
  name: 'If-Match',
  in: 'header',
  description: 'The ETag the caller last saw: the request is refused if the resource has changed since',
  required: false,
  schema: { type: 'string', pattern: '^("[0-9]{1,12}"|\\*)$' },
};

function headerParameters({ endpoint }: RouteInFull, codes: ProblemCode[]): Parameter[] {
  const { idempotency } = endpoint.spec;
  const isKeyed = endpoint.kind === 'command' && idempotency !== 'none';
  return [
    REQUEST_ID,
    ...(isKeyed ? [{ ...IDEMPOTENCY_KEY, required: idempotency === 'required' }] : []),
    ...(codes.includes('precondition.failed') ? [IF_MATCH] : []),
  ];
}

function bodyOf({ endpoint }: RouteInFull, schemas: Schemas): Operation['requestBody'] {
  const { body, form, parseText } = endpoint.spec;
  if (!body) return undefined;
  const schema = schemas.refOf(body);
  const media = { schema, example: exampleOf(schema, schemas.components) };
  const content = {
    'application/json': media,
    ...(form && { 'application/x-www-form-urlencoded': media }),
    ...(parseText && { [parseText.media]: { schema } }),
  };
  return { required: !acceptsNothing(schema, schemas), content };
}

/** Whether an empty object is accepted: then the body is optional. */
function acceptsNothing(schema: Schema, { components }: Schemas): boolean {
  const known = schema.$ref ? components[schema.$ref.split('/').at(-1) ?? ''] : schema;
  return known?.type === 'object' && !known.required && !known.minProperties;
}

const DESCRIPTIONS = { 200: 'Done', 201: 'Created', 202: 'Accepted', 204: 'Done, without content' };

function successOf({ endpoint, permission }: RouteInFull, schemas: Schemas): Record<string, Answer> {
  const { status = 200, reply, media } = endpoint.spec;
  const answer: Media = { schema: reply ? schemas.refOf(reply) : { type: media ? 'string' : 'object' } };
  const content = status === 204 ? undefined : { [media?.split(';')[0] ?? 'application/json']: answer };
  return {
    [status]: {
      description: DESCRIPTIONS[status],
      headers: {
        'X-Request-ID': header('RequestId'),
        ...(permission !== 'iam' && {
          'RateLimit-Policy': header('RateLimitPolicy'),
          RateLimit: header('RateLimit'),
        }),
        ...(isEdited(answer.schema, schemas) && { ETag: header('ETag') }),
        ...((status === 201 || status === 202) && { Location: header('Location') }),
      },
      ...(content && { content }),
    },
  };
}

/** Things people edit carry a version, which is their entity tag. */
function isEdited(schema: Schema, { components }: Schemas): boolean {
  const known = components[schema.$ref?.split('/').at(-1) ?? ''];
  return ['number', 'integer'].includes(String(known?.properties?.['version']?.type));
}

function header(name: string): Ref {
  return { $ref: `#/components/headers/${name}` };
}
