import type { Schema } from '../functions/docs/document.ts';

const BY_FORMAT: Record<string, string> = {
  uuid: '0193e0a0-7c3b-7f00-8a5e-3d1f0c9b2a41',
  'date-time': '2026-11-02T12:00:00.000Z',
  date: '2026-11-02',
  email: 'ada@example.com',
  uri: 'https://app.example.com/',
};

/** What members of these names usually hold. */
const BY_NAME: Record<string, string> = {
  name: 'Example',
  slug: 'example',
  description: 'What it is for',
  reason: 'No longer needed',
  assertion: 'header.payload.signature',
};

/** Tried in turn on other text. A schema with a pattern none of them matches should bring examples of its own. */
const CANDIDATES = [
  'example',
  'Example',
  '1',
  '1.0.0',
  // 256 bits, as hexadecimal and base64url write them.
  '0123456789abcdef'.repeat(4),
  `sha256:${'0123456789abcdef'.repeat(4)}`,
  'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG',
];

/** A value the schema accepts, as somebody might send it; undefined where none can be thought of. */
export function exampleOf(schema: Schema, schemas: Record<string, Schema>, name = ''): unknown {
  if (schema.$ref) return exampleOf(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, schemas, name);
  const given = [schema.examples?.[0], schema.const, schema.enum?.[0], schema.default].find(
    (each) => each !== undefined,
  );
  if (given !== undefined) return given;
  const alternative = (schema.anyOf ?? schema.oneOf)?.[0];
  if (alternative) return exampleOf(alternative, schemas, name);
  switch ([schema.type].flat()[0]) {
    case 'object':
      return exampleObject(schema, schemas);
    case 'array':
      return schema.items ? [exampleOf(schema.items, schemas, name)] : [];
    case 'integer':
    case 'number':
      return schema.minimum ?? schema.maximum ?? 1;
    case 'boolean':
      return true;
    case 'string':
      return exampleText(schema, name);
    default:
      return undefined;
  }
}

/** What must be there; where nothing must, everything that may. */
function exampleObject({ properties = {}, required }: Schema, schemas: Record<string, Schema>): unknown {
  const shown = Object.entries(properties).filter(([member]) => required?.includes(member) ?? true);
  return Object.fromEntries(shown.map(([member, each]) => [member, exampleOf(each, schemas, member)]));
}

function exampleText(schema: Schema, name: string): string | undefined {
  if (schema.format && BY_FORMAT[schema.format]) return BY_FORMAT[schema.format];
  const pattern = new RegExp(schema.pattern ?? '');
  return [BY_NAME[name], ...CANDIDATES].find(
    (each) =>
      each !== undefined &&
      pattern.test(each) &&
      each.length >= (schema.minLength ?? 0) &&
      each.length <= (schema.maxLength ?? Infinity),
  );
}
