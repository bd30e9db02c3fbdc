// Parameter, placement and config schemas that are wrong, outside the subset, or made to cost.

import type { HostileManifest } from './case.ts';

const PARAMETERS = '/version/parameters';
const MODEL = `${PARAMETERS}/properties/model`;
const GPUS = `${PARAMETERS}/properties/gpu_count`;
const PACKAGES = `${PARAMETERS}/properties/packages`;
const PLACEMENT = '/version/placement_schema';

const one = (name: string, at: string, value: unknown, pointer = at, also?: string[]): HostileManifest => ({
  name: `schema: ${name}`,
  sample: 'full',
  at,
  value,
  pointer,
  also,
});

/** Schemas in each other, so many levels deep. */
function nestedSchema(levels: number): unknown {
  let schema: unknown = { type: 'string' };
  for (let level = 0; level < levels; level++) schema = { type: 'array', items: schema };
  return schema;
}

/** Patterns another engine would not come back from, or that no engine of ours accepts. */
const PATTERNS = [
  '(.{1,900}){1,900}',
  '((a{1,99}){1,99}){1,99}',
  '(a{1000}){1000}',
  'a{1001}',
  'a{2,1}',
  '(?=a+)b',
  '(?!a)b',
  '(?<=a)b',
  '(?<name>a)',
  '(a)\\1',
  '\\k<name>',
  '\\bword',
  '\\p{L}+',
  '(',
  ')',
  '[a',
  '[]',
  '[z-a]',
  'a**',
  '*',
  'a{,3}',
  '\\',
  '(?i)a',
  '(a|b)'.repeat(41),
  'x'.repeat(201),
];

/** Keywords of JSON Schema that are not in the subset. */
const OUTSIDE: [string, unknown][] = [
  ['$ref', 'https://attacker.example.com/schema.json'],
  ['$ref', '#/properties/gpu_count'],
  ['$ref', 'file:///etc/passwd'],
  ['$dynamicRef', '#node'],
  ['$id', 'https://example.com/schema'],
  ['$anchor', 'model'],
  ['$defs', { loop: { $ref: '#/$defs/loop' } }],
  ['definitions', {}],
  ['$data', '1/gpu_count'],
  ['$comment', 'remember to remove'],
  ['anyOf', [{ type: 'string' }]],
  ['oneOf', [{ type: 'string' }]],
  ['allOf', [{ type: 'string' }]],
  ['not', {}],
  ['if', {}],
  ['then', {}],
  ['dependentSchemas', {}],
  ['contentEncoding', 'base64'],
  ['examples', ['example/tiny']],
  ['readOnly', true],
  ['nullable', true],
  ['x-render', '<script>'],
];

export const SCHEMA_CASES: HostileManifest[] = [
  ...PATTERNS.map((pattern) => one(`the pattern ${pattern.slice(0, 60)}`, `${MODEL}/pattern`, pattern)),
  one('a pattern that is none', `${MODEL}/pattern`, 7),
  ...OUTSIDE.map(([keyword, value]) =>
    one(`the keyword ${keyword} with ${JSON.stringify(value).slice(0, 50)}`, `${MODEL}/${keyword}`, value),
  ),
  one('patternProperties', `${PARAMETERS}/patternProperties`, { '^x': {} }),
  one('propertyNames', `${PARAMETERS}/propertyNames`, { pattern: '^(a+)+$' }),
  one('unevaluatedProperties', `${PARAMETERS}/unevaluatedProperties`, false),
  one('prefixItems', `${PACKAGES}/prefixItems`, []),
  one('contains', `${PACKAGES}/contains`, {}),
  one('another dialect', `${PARAMETERS}/$schema`, 'http://json-schema.org/draft-07/schema#'),
  one('a dialect inside', `${MODEL}/$schema`, 'https://json-schema.org/draft/2020-12/schema'),
  one('parameters that are no object', `${PARAMETERS}/type`, 'string', undefined, [
    `${PARAMETERS}/additionalProperties`,
    `${PARAMETERS}/properties`,
    `${PARAMETERS}/required`,
  ]),
  one('parameters of no type', `${PARAMETERS}/type`, undefined),
  one('parameters beyond those declared', `${PARAMETERS}/additionalProperties`, true),
  one('a schema for other parameters', `${PARAMETERS}/additionalProperties`, { type: 'string' }),
  one('a placement that is no object', PLACEMENT, { type: 'array' }, `${PLACEMENT}/type`),
  one('a placement of no type', PLACEMENT, {}, `${PLACEMENT}/type`),
  one(
    'a config of properties only',
    '/version/config_schema',
    { properties: {} },
    '/version/config_schema/type',
  ),
  one(
    'a config that points elsewhere',
    '/version/config_schema',
    { $ref: 'https://example.com/x.json' },
    '/version/config_schema/$ref',
    ['/version/config_schema/type'],
  ),
  one('a property that is no schema', `${PARAMETERS}/properties/extra`, 'string'),
  one('a property that is true', `${PARAMETERS}/properties/extra`, true),
  one('a property that is a list', `${PARAMETERS}/properties/extra`, []),
  one('properties that are a list', `${PARAMETERS}/properties`, [], undefined, [
    `${PARAMETERS}/required/0`,
    '/version/ui_hints/order/0',
    '/version/ui_hints/order/1',
    '/version/ui_hints/fields/0/parameter',
    '/version/runtime_profile/components/0/env/0/parameter',
    '/version/runtime_profile/components/0/parameter_args/0/parameter',
    ...['gpu_count', 'tensor_parallel', 'vcpu', 'memory_mib', 'shared_memory_mib'].map(
      (name) => `/version/runtime_profile/resource_parameters/${name}`,
    ),
  ]),
  one(
    'more properties than a form shows',
    PLACEMENT,
    {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 101 }, (_, index) => [`p${index}`, { type: 'string' }]),
      ),
    },
    `${PLACEMENT}/properties`,
  ),
  one('a property with a blank in its name', `${PARAMETERS}/properties/two words`, { type: 'string' }),
  one('a property with a slash in its name', `${PARAMETERS}/properties/a~1b`, { type: 'string' }),
  one('a property with a very long name', `${PARAMETERS}/properties/${'p'.repeat(65)}`, { type: 'string' }),
  one('a type that is none', `${MODEL}/type`, 'text', undefined, []),
  one('a type of null', `${MODEL}/type`, 'null'),
  one('several types', `${MODEL}/type`, ['string', 'null']),
  one('no type', `${MODEL}/type`, undefined),
  one('a keyword of another type', `${GPUS}/minLength`, 1),
  one('a bound of another type', `${MODEL}/minimum`, 1),
  one('items of a text', `${MODEL}/items`, { type: 'string' }),
  one('required of a number', `${GPUS}/required`, []),
  one('a length below zero', `${MODEL}/minLength`, -1),
  one('half a length', `${MODEL}/maxLength`, 1.5),
  one('a length as text', `${MODEL}/maxLength`, '200'),
  one('lengths that exclude each other', `${MODEL}/maxLength`, 0),
  one('bounds that exclude each other', `${GPUS}/maximum`, 0),
  one('an exclusive bound that leaves nothing', `${GPUS}/exclusiveMaximum`, 1),
  one('numbers of items that exclude each other', `${PACKAGES}/minItems`, 21, `${PACKAGES}/maxItems`),
  one('multiples of zero', `${PARAMETERS}/properties/memory_mib/multipleOf`, 0),
  one('multiples of less', `${PARAMETERS}/properties/memory_mib/multipleOf`, -1024),
  one('a format nobody checks', `${MODEL}/format`, 'regex'),
  one('uniqueness in words', `${PACKAGES}/uniqueItems`, 'yes'),
  one('a schema for each item', `${PACKAGES}/items`, [{ type: 'string' }]),
  one('required that is true', `${MODEL}/required`, true),
  one('required of what does not exist', `${PARAMETERS}/required/1`, 'password'),
  one('required twice', `${PARAMETERS}/required`, ['model', 'model']),
  one('required that are numbers', `${PARAMETERS}/required`, [1]),
  one('a default of another type', `${GPUS}/default`, '2'),
  one('a default out of bounds', `${GPUS}/default`, 9),
  one('a default that does not match', `${MODEL}/default`, 'no slash'),
  one('a default of nothing', `${GPUS}/default`, null),
  one('a default with one wrong item', `${PACKAGES}/default`, ['numpy', 7]),
  one('a default that repeats itself', `${PACKAGES}/default`, ['numpy', 'numpy']),
  one('a default for everything that lacks something', `${PARAMETERS}/default`, {}),
  one(
    'a default that costs too many steps',
    PLACEMENT,
    {
      type: 'object',
      properties: { text: { type: 'string', pattern: '(.{0,300})*y', default: 'x'.repeat(30_000) } },
    },
    `${PLACEMENT}/properties/text/default`,
  ),
  one('no choice', `${GPUS}/enum`, []),
  one('a choice of one thing twice', `${GPUS}/enum`, [1, 1]),
  one('a choice that is no list', `${GPUS}/enum`, '1,2,4'),
  one('a choice of another type', `${GPUS}/enum`, [2, 'four'], `${GPUS}/enum/1`),
  one('a choice out of bounds', `${GPUS}/enum`, [2, 64], `${GPUS}/enum/1`),
  one('a choice without the default', `${GPUS}/enum`, [1, 4], `${GPUS}/default`),
  one(
    'too much choice',
    `${GPUS}/enum`,
    Array.from({ length: 201 }, (_, index) => index),
  ),
  one('a constant of another type', `${GPUS}/const`, 'two', undefined, [`${GPUS}/default`]),
  one('a title without end', `${MODEL}/title`, 'x'.repeat(201)),
  one('a description without end', `${MODEL}/description`, 'x'.repeat(2001)),
  one(
    'too deep',
    `${PARAMETERS}/properties/deep`,
    nestedSchema(19),
    `${PARAMETERS}/properties/deep${'/items'.repeat(18)}`,
  ),
  one('too large', PLACEMENT, { type: 'object', description: 'x'.repeat(66_000) }),
  one('too many values', PLACEMENT, { type: 'object', default: Array.from({ length: 10_001 }, () => 0) }),
  one('a number too large to keep', `${GPUS}/maximum`, 1e300),
  one('a number too small to keep', `${GPUS}/multipleOf`, 1e-300, undefined, [`${GPUS}/default`]),
  one('an endless number', `${GPUS}/maximum`, Infinity),
  one('what is not a number', `${GPUS}/minimum`, NaN),
];
