// The parts of an OpenAPI 3.1 document that ours has. `lib/openapi.ts` makes it of the routes, the page shows it.

/** JSON Schema 2020-12, as far as wire schemas go. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

export interface Ref {
  $ref: string;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  description?: string;
  required: boolean;
  schema: Schema;
}

export interface Header {
  description: string;
  schema: Schema;
}

export interface Media {
  schema: Schema;
  example?: unknown;
}

export interface Answer {
  description: string;
  headers?: Record<string, Ref>;
  content?: Record<string, Media>;
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  /** What the caller must be allowed: a permission key, `public`, `signed_in` or `iam`. */
  'x-permission': string;
  /** Every code a problem answer of this operation may carry. */
  'x-problem-codes': string[];
  security: Record<string, never[]>[];
  parameters: (Parameter | Ref)[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, Answer | Ref>;
}

export interface ProblemKind {
  code: string;
  status: number;
  retryable: boolean;
  title: string;
}

export interface OpenapiDocument {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  /** By path, then by method in lower case. */
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    headers: Record<string, Header>;
    responses: Record<string, Answer>;
    securitySchemes: Record<string, Record<string, string>>;
  };
  /** Every way the platform says no. */
  'x-problems': ProblemKind[];
}

/** What a reference inside the document points at. */
export function resolve<T extends object>(document: OpenapiDocument, part: T | Ref): T {
  if (!('$ref' in part) || typeof part.$ref !== 'string') return part as T;
  let found: unknown = document;
  for (const key of part.$ref.replace(/^#\//, '').split('/')) found = (found as Record<string, unknown>)[key];
  if (found === undefined) throw new Error(`The document has no ${part.$ref}.`);
  return found as T;
}
