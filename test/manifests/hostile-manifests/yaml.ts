// Manifests that are refused as text. They are read by nothing but the YAML parser, and so have no place to point to.

export interface HostileText {
  name: string;
  text: string;
  /** A word of the refusal that tells it from others. */
  says: string;
}

const LEVELS = 12;

/** Each level is the one before ten times: written out, more than all memory holds. */
const billionLaughs = [
  'a0: &a0 [lol]',
  ...Array.from(
    { length: LEVELS },
    (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level},`.repeat(10)}]`,
  ),
].join('\n');

export const YAML_CASES: HostileText[] = [
  { name: 'an alias', text: 'slug: &s app\ndisplay_name: *s', says: 'aliases' },
  { name: 'aliases of aliases', text: billionLaughs, says: 'aliases' },
  { name: 'an alias of itself', text: 'app: &app\n  self: *app', says: 'aliases' },
  { name: 'an alias of nothing', text: 'app: *nowhere', says: 'Line 1' },
  { name: 'a merge of an alias', text: 'base: &base {a: 1}\napp:\n  <<: *base', says: 'aliases' },
  { name: 'many aliases', text: `a: &a x\nb: [${'*a,'.repeat(10_000)}]`, says: 'aliases' },
  { name: 'a function', text: "slug: !!js/function 'function () { return 1 }'", says: 'tags' },
  { name: 'a regular expression', text: 'slug: !!js/regexp /(a+)+$/', says: 'tags' },
  { name: 'undefined', text: "slug: !!js/undefined ''", says: 'tags' },
  { name: 'a Python object', text: 'slug: !!python/object/apply:os.system ["id"]', says: 'tags' },
  { name: 'bytes', text: 'slug: !!binary aGVsbG8=', says: 'tags' },
  { name: 'a set', text: 'app: !!set {slug}', says: 'tags' },
  { name: 'an ordered map', text: 'app: !!omap [slug: x]', says: 'tags' },
  { name: 'a timestamp', text: 'version: !!timestamp 2026-01-01', says: 'tags' },
  { name: 'a tag of somebody', text: 'slug: !secret app', says: 'tags' },
  { name: 'a tag with a handle', text: '%TAG !e! tag:example.com,2000:\n---\nslug: !e!x app', says: 'tags' },
  { name: 'a tab', text: 'app:\n\tslug: x', says: 'tabs' },
  { name: 'a key twice', text: 'slug: app\nslug: other', says: 'is repeated' },
  { name: 'a key twice, written otherwise', text: 'slug: app\n"slug": other', says: 'is repeated' },
  { name: 'a key twice in braces', text: 'app: {slug: a, slug: b}', says: 'is repeated' },
  { name: 'a list as a key', text: '? [a, b]\n: 1', says: 'plain text' },
  { name: 'an object as a key', text: '? {a: b}\n: 1', says: 'plain text' },
  { name: 'two documents', text: 'slug: a\n---\nslug: b', says: 'one document' },
  { name: 'nothing', text: '', says: 'empty' },
  { name: 'only a comment', text: '# nothing here', says: 'empty' },
  { name: 'brackets without end', text: '['.repeat(100_000), says: 'levels' },
  { name: 'braces without end', text: '{a: '.repeat(50_000), says: 'levels' },
  { name: 'dashes without end', text: '- '.repeat(50_000), says: 'levels' },
  {
    name: 'keys without end',
    text: Array.from({ length: 200 }, (_, level) => `${' '.repeat(level)}a:`).join('\n'),
    says: 'levels',
  },
  { name: 'a bracket left open', text: 'app: {slug: x', says: 'Line 1' },
  { name: 'a quote left open', text: 'slug: "app', says: 'Line 1' },
  { name: 'a NUL', text: 'slug: a\0b', says: 'Line 1' },
  { name: 'a control character', text: 'slug: a\u0007b', says: 'Line 1' },
  { name: 'an escape that is none', text: 'slug: "\\q"', says: 'Line 1' },
  { name: 'text that is no YAML', text: 'slug: app: other: more', says: 'Line 1' },
  { name: 'an unknown YAML', text: '%YAML 9.9\n---\nslug: app', says: 'Line 2' },
  { name: 'a reserved character', text: 'slug: @app', says: 'Line 1' },
];

/** Read as YAML, and refused as manifests: the pointer says where. */
export const YAML_VALUE_CASES: { name: string; text: string; pointer: string }[] = [
  { name: 'a merge key', text: 'slug: app\n<<: {display_name: App}', pointer: '/<<' },
  { name: 'a prototype', text: 'slug: app\n__proto__: {isAdmin: true}', pointer: '/__proto__' },
  { name: 'a version that is a number', text: 'slug: app\nversion: 1.4', pointer: '/version' },
  { name: 'a slug that is nothing', text: 'slug: ~', pointer: '/slug' },
  { name: 'a slug that is true', text: 'slug: true', pointer: '/slug' },
  {
    name: 'an endless number',
    text: 'compatibility: {min_gpu_count: .inf}',
    pointer: '/compatibility/min_gpu_count',
  },
  {
    name: 'what is not a number',
    text: 'compatibility: {min_gpu_count: .nan}',
    pointer: '/compatibility/min_gpu_count',
  },
  {
    name: 'a number without end',
    text: `compatibility: {min_gpu_count: ${'9'.repeat(400)}}`,
    pointer: '/compatibility/min_gpu_count',
  },
  { name: 'half a character', text: 'slug: "\\ud800"', pointer: '/slug' },
  { name: 'a list of manifests', text: '- slug: app', pointer: '' },
  { name: 'a text', text: 'just words', pointer: '' },
  { name: 'nothing', text: '~', pointer: '' },
];
