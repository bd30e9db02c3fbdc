// Which changes of a manifest can break those who launched or automated the version before, and why.

import type { JsonSchema } from './json-schema.ts';
import type { Manifest } from './manifest-canonical.ts';
import type { Difference } from './manifest-diff.ts';

interface Rule {
  /** The shape of the pointer. */
  at: RegExp;
  breaks: (difference: Difference) => boolean;
  why: string;
}

const always = (): boolean => true;
const isAdded = ({ kind }: Difference): boolean => kind === 'added';
const isRemoved = ({ kind }: Difference): boolean => kind === 'removed';
const isAnother = ({ kind }: Difference): boolean => kind !== 'removed';
const becameTrue = ({ after }: Difference): boolean => after === true;
const isRaised = ({ before, after }: Difference): boolean =>
  numberOr(after, -Infinity) > numberOr(before, -Infinity);
/** For a count that defaults to 0 if omitted. */
const isMore = ({ before, after }: Difference): boolean => numberOr(after, 0) > numberOr(before, 0);
const isLowered = ({ before, after }: Difference): boolean =>
  numberOr(after, Infinity) < numberOr(before, Infinity);

const numberOr = (value: unknown, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise;

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

const PROFILE = '/version/runtime_profile';
const at = (shape: string): RegExp => new RegExp(`^${shape.replaceAll('*', '\\*')}$`);

const RULES: Rule[] = [
  {
    at: at('/app/runtime_backend'),
    breaks: always,
    why: 'Instances cannot move to another runtime backend.',
  },
  {
    at: at('/app/supported_modes/operating_modes/*'),
    breaks: isRemoved,
    why: 'Instances in this operating mode cannot move to this version.',
  },
  {
    at: at('/app/supported_modes/control_plane_scopes/*'),
    breaks: isRemoved,
    why: 'Instances with this control-plane scope cannot move to this version.',
  },
  {
    at: at('/version/internal_testing'),
    breaks: becameTrue,
    why: 'Only the publisher can launch the version.',
  },
  {
    at: at('/version/artifacts/*'),
    breaks: (difference) => isRemoved(difference) && memberOf(difference.before, 'variant') !== undefined,
    why: 'This variant is no longer offered.',
  },
  {
    at: at('/version/compatibility/requires_capacity_shape/*'),
    breaks: isRemoved,
    why: 'Allocations of this shape can no longer run the app.',
  },
  {
    at: at('/version/compatibility/supported_accelerators/*'),
    breaks: isRemoved,
    why: 'Allocations with this accelerator can no longer run the app.',
  },
  {
    at: at('/version/compatibility/min_gpu_(?:count|memory_mib)'),
    breaks: isMore,
    why: 'Smaller allocations can no longer run the app.',
  },
  {
    at: at('/version/compatibility/requires_exclusive_node'),
    breaks: becameTrue,
    why: 'Allocations on shared nodes can no longer run the app.',
  },
  {
    at: at('/version/required_credential_classes/*'),
    breaks: isAdded,
    why: 'Projects need a credential they may not have.',
  },
  {
    at: at('/version/runtime_requirements/bootstrap_access_credential'),
    breaks: isAnother,
    why: 'Projects need a credential they may not have.',
  },
  {
    at: at('/version/external_worker_contract(?:/.+)?'),
    breaks: always,
    why: 'Existing workers poll and report by the old contract.',
  },
  {
    at: at('/version/members/*'),
    breaks: isRemoved,
    why: 'Existing instances may have members of this role.',
  },
  {
    at: at('/version/members/*/min_count'),
    breaks: isMore,
    why: 'Existing instances may have fewer members.',
  },
  {
    at: at('/version/members/*/max_count'),
    breaks: isLowered,
    why: 'Existing instances may have more members.',
  },
  {
    at: at('/version/ui(?:/extension_kind)?'),
    breaks: ({ before, kind }) =>
      kind !== 'added' && (memberOf(before, 'extension_kind') ?? before) === 'embedded',
    why: 'The UI of the app is no longer available through the platform.',
  },
  { at: at(PROFILE), breaks: isRemoved, why: 'The version can no longer be launched.' },
  {
    at: at(`${PROFILE}/engines/*`),
    breaks: isRemoved,
    why: 'Instances run by this engine cannot move to this version.',
  },
  { at: at(`${PROFILE}/variants/*`), breaks: isRemoved, why: 'This variant is no longer offered.' },
  {
    at: at(`${PROFILE}/components/*`),
    breaks: (difference) => isRemoved(difference) && isReachable(difference.before),
    why: 'Clients can no longer reach the ports of this component.',
  },
  {
    at: at(`${PROFILE}/components/*/ports/*`),
    breaks: (difference) => isRemoved(difference) && memberOf(difference.before, 'expose') !== 'none',
    why: 'Clients can no longer reach this port.',
  },
  {
    at: at(`${PROFILE}/components/*/ports/*/expose`),
    breaks: ({ before }) => before !== 'none',
    why: 'Clients must reach this port in another way.',
  },
  {
    at: at(`${PROFILE}/(?:components/*/)?resources/(?:gpu_count|min_vcpu|min_memory_mib|shared_memory_mib)`),
    breaks: isMore,
    why: 'Allocations that ran the app may be too small.',
  },
  {
    at: at(`${PROFILE}/resource_parameters/\\w+`),
    breaks: isRemoved,
    why: 'The parameter no longer sets this resource.',
  },
  {
    at: at(`${PROFILE}/storage/*`),
    breaks: isRemoved,
    why: 'Data that instances keep there is no longer mounted.',
  },
  {
    at: at(`${PROFILE}/storage/*/path`),
    breaks: always,
    why: 'Data that instances keep there is mounted at another path.',
  },
  { at: at(`${PROFILE}/storage/*/kinds/*`), breaks: isRemoved, why: 'Existing instances may use this kind.' },
  {
    at: at(`${PROFILE}/storage/*/min_gib`),
    breaks: isMore,
    why: 'Existing instances may have less storage.',
  },
  {
    at: at(`${PROFILE}/storage/*/max_gib`),
    breaks: isLowered,
    why: 'Existing instances may have more storage.',
  },
  {
    at: at(`${PROFILE}/storage/*/read_only`),
    breaks: becameTrue,
    why: 'Existing instances may write there.',
  },
  { at: at(`${PROFILE}/add_ons/*`), breaks: isRemoved, why: 'Existing instances may use this add-on.' },
  {
    at: at(`${PROFILE}/secrets/*`),
    breaks: (difference) => isAdded(difference) && memberOf(difference.after, 'required') === true,
    why: 'Projects need a credential they may not have.',
  },
  {
    at: at(`${PROFILE}/secrets/*/required`),
    breaks: becameTrue,
    why: 'Projects need a credential they may not have.',
  },
  {
    at: at(`${PROFILE}/secrets/*/credential_class`),
    breaks: isAnother,
    why: 'The credential in use may be of another class.',
  },
  {
    at: at(`${PROFILE}/outputs/*`),
    breaks: isRemoved,
    why: 'Clients that read this output no longer find it.',
  },
  {
    at: at(`${PROFILE}/outputs/*/(?:kind|component|port|path)`),
    breaks: always,
    why: 'The output points to something else.',
  },
];

const SCHEMAS = /^\/version\/(?:parameters|placement_schema|config_schema)(?=\/)/;

/** Why it can break something, or nothing where it cannot. */
export function whyBreaking(difference: Difference, after: Manifest): string | undefined {
  const [schema] = SCHEMAS.exec(difference.shape) ?? [];
  if (schema !== undefined) return whySchemaBreaks(difference, schema, after);
  return RULES.find((rule) => rule.at.test(difference.shape) && rule.breaks(difference))?.why;
}

function isReachable(component: unknown): boolean {
  const ports = memberOf(component, 'ports');
  return Array.isArray(ports) && ports.some((port) => memberOf(port, 'expose') !== 'none');
}

interface KeywordRule {
  breaks: (difference: Difference) => boolean;
  why: string;
}

const NARROWER = 'Values that were accepted before are refused.';
const narrowsWhen = (breaks: KeywordRule['breaks']): KeywordRule => ({ breaks, why: NARROWER });

const KEYWORD_RULES: Record<string, KeywordRule> = {
  type: narrowsWhen(({ before, after }) => !(before === 'integer' && after === 'number')),
  minimum: narrowsWhen(isRaised),
  exclusiveMinimum: narrowsWhen(isRaised),
  minLength: narrowsWhen(isMore),
  minItems: narrowsWhen(isMore),
  minProperties: narrowsWhen(isMore),
  maximum: narrowsWhen(isLowered),
  exclusiveMaximum: narrowsWhen(isLowered),
  maxLength: narrowsWhen(isLowered),
  maxItems: narrowsWhen(isLowered),
  maxProperties: narrowsWhen(isLowered),
  multipleOf: narrowsWhen(
    ({ before, after }) => typeof after === 'number' && numberOr(before, NaN) % after !== 0,
  ),
  pattern: narrowsWhen(isAnother),
  format: narrowsWhen(isAnother),
  const: narrowsWhen(isAnother),
  enum: narrowsWhen(isAdded),
  'enum/*': narrowsWhen(isRemoved),
  uniqueItems: narrowsWhen(becameTrue),
  additionalProperties: narrowsWhen(({ after }) => after === false),
  items: narrowsWhen(isAdded),
  property: { breaks: isRemoved, why: 'Launches that set it are refused.' },
};

/** From the pointer of a change inside a schema to the keyword that changed, past the properties it stands in. */
function whySchemaBreaks(difference: Difference, schema: string, after: Manifest): string | undefined {
  const parts = difference.shape.slice(schema.length + 1).split('/');
  let node: unknown = after.version[schema.split('/')[2] as 'parameters'];
  let index = 0;
  while (parts[index] === 'properties' || parts[index] === 'items') {
    const isProperty = parts[index] === 'properties';
    const depth = isProperty ? 2 : 1;
    if (index + depth >= parts.length) break;
    node = memberOf(isProperty ? memberOf(node, 'properties') : node, parts[index + depth - 1] ?? '');
    index += depth;
  }
  const keyword = parts.slice(index).join('/');
  if (keyword === 'required/*') return whyRequired(difference, node);
  const name = /^properties\/[^/]+$/.test(keyword) ? 'property' : keyword;
  const rule = Object.hasOwn(KEYWORD_RULES, name) ? KEYWORD_RULES[name] : undefined;
  return rule?.breaks(difference) ? rule.why : undefined;
}

/** A parameter with a default is filled in for those who do not know it. */
function whyRequired(difference: Difference, node: unknown): string | undefined {
  if (!isAdded(difference)) return undefined;
  const property = memberOf(memberOf(node, 'properties'), String(difference.after)) as JsonSchema | undefined;
  return property?.default === undefined ? 'Launches that do not set it are refused.' : undefined;
}
