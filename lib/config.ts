import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IConstruct } from 'constructs';
import * as v from 'valibot';

// `-c name=value` on the command line gives strings, cdk.json gives what was written there.
const Count = v.pipe(v.union([v.string(), v.number()]), v.transform(Number));
const Flag = v.pipe(
  v.union([v.boolean(), v.picklist(['true', 'false'])], 'must be true or false'),
  v.transform((value) => value === true || value === 'true'),
);

/** What the tokens of this API are meant for. */
const API_AUDIENCE = 'urn:gpuaas:api';

const retentionDays = Object.values(RetentionDays).filter((each) => typeof each === 'number');

/** The context values a platform team sets, each with a default: synthesis needs none of them. */
const Context = v.pipe(
  v.object({
    /** Where the API answers, with the certificate for it in ACM: in the stack's region, or, with a front, in us-east-1. */
    domain_name: v.optional(v.pipe(v.string(), v.regex(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'must be a host name'))),
    certificate_arn: v.optional(
      v.pipe(
        v.string(),
        v.regex(
          /^arn:[\w-]+:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/,
          'must be the ARN of an ACM certificate',
        ),
      ),
    ),
    /** Where people sign in; without it a Cognito user pool is made for them. */
    oidc_issuer: v.optional(v.pipe(v.string(), v.url('must be a URL'))),
    oidc_jwks_uri: v.optional(v.pipe(v.string(), v.url('must be a URL'))),
    oidc_audience: v.optional(v.pipe(v.string(), v.minLength(1)), API_AUDIENCE),
    oidc_audience_claim: v.optional(v.picklist(['aud', 'client_id'], 'must be aud or client_id'), 'aud'),
    oidc_algorithm: v.optional(
      v.picklist(['ES256', 'RS256', 'PS256', 'EdDSA'], 'must be ES256, RS256, PS256 or EdDSA'),
      'ES256',
    ),
    oidc_typ: v.optional(v.string(), 'at+jwt'),
    /** Whether access tokens of that issuer tell `email` and `email_verified`. */
    oidc_tells_email: v.optional(Flag, true),
    /** Whether, where they do not, an invitation is good for whoever brings it. */
    invitations_without_email: v.optional(
      v.picklist(['refused', 'accepted'], 'must be refused or accepted'),
      'refused',
    ),
    /** Where the console is, for people to be sent back to after signing in to that pool. */
    console_origin: v.optional(
      v.pipe(v.string(), v.check(isOrigin, 'must be an origin such as https://console.example.com')),
    ),
    /** Threat protection needs plus, which costs more for each person. */
    cognito_plan: v.optional(v.picklist(['essentials', 'plus'], 'must be essentials or plus'), 'essentials'),
    /** Subjects of the people who administer the platform, comma-separated. */
    platform_admins: v.optional(
      v.pipe(v.string(), v.regex(/^[^\s]+$/, 'must be subjects with commas between')),
      'nobody',
    ),
    /** How long a service account's token lives. */
    token_ttl_seconds: v.optional(
      v.pipe(
        Count,
        v.integer(),
        v.minValue(60, 'must be 60 to 3600'),
        v.maxValue(3600, 'must be 60 to 3600'),
      ),
      900,
    ),
    /** How often the agent of a node says that it is there, and after which silence the node is suspect, and lost. */
    heartbeat_seconds: v.optional(
      v.pipe(Count, v.integer(), v.minValue(10, 'must be 10 to 300'), v.maxValue(300, 'must be 10 to 300')),
      60,
    ),
    node_suspect_seconds: v.optional(v.pipe(Count, v.integer(), v.minValue(1, 'must be 1 or more')), 180),
    node_lost_seconds: v.optional(v.pipe(Count, v.integer(), v.minValue(1, 'must be 1 or more')), 600),
    /** Whether an image that must run as root may do so on a host whose engine does not remap users. */
    root_without_remap: v.optional(v.picklist(['refused', 'allowed']), 'refused'),
    /** How long a warm function caches authorization: a removed right still counts for that long. */
    authorization_cache_seconds: v.optional(
      v.pipe(Count, v.integer(), v.minValue(1, 'must be 1 to 5'), v.maxValue(5, 'must be 1 to 5')),
      5,
    ),
    /** Whether functions reserve concurrency; a new account has too little of it to reserve any. */
    reserved_concurrency: v.optional(Flag, false),
    /** What Lambda lets the account run at once, in this region. */
    lambda_concurrency_quota: v.optional(
      v.pipe(Count, v.integer('must be a whole number'), v.minValue(10, 'must be 10 or more')),
      1_000,
    ),
    /** Whether tables, users and the data stack refuse to be deleted. A first deployment that fails must be able to. */
    deletion_protection: v.optional(Flag, false),
    /** What manifests may call the registry, besides its host; the name that the documentation uses by default. */
    registry_name: v.optional(
      v.pipe(v.string(), v.regex(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'must be a host name')),
      'registry.gpuaas.example.com',
    ),
    /** Whether CloudFront and a firewall stand in front of the API. */
    front: v.optional(Flag, false),
    /** Who hears of alarms; AWS asks the address to confirm. */
    alarm_email: v.optional(v.pipe(v.string(), v.email('must be an e-mail address'))),
    log_retention_days: v.optional(
      v.pipe(Count, v.picklist(retentionDays, `must be one of ${retentionDays.join(', ')}`)),
      RetentionDays.THREE_MONTHS,
    ),
  }),
  v.check(
    (context) => !context.domain_name === !context.certificate_arn,
    'domain_name and certificate_arn must be set together',
  ),
  v.check(
    ({ heartbeat_seconds, node_suspect_seconds, node_lost_seconds }) =>
      2 * heartbeat_seconds <= node_suspect_seconds && node_suspect_seconds < node_lost_seconds,
    'node_suspect_seconds must be at least twice heartbeat_seconds, and less than node_lost_seconds',
  ),
  v.check(
    ({ front, certificate_arn }) => !front || /:acm:us-east-1:/.test(certificate_arn ?? ''),
    'front needs domain_name, and a certificate_arn in us-east-1, where CloudFront looks for it',
  ),
  v.check(
    ({ oidc_issuer, oidc_tells_email }) => oidc_tells_email || oidc_issuer !== undefined,
    'oidc_tells_email=false needs oidc_issuer: the user pool of the stack tells addresses',
  ),
  v.check(
    ({ oidc_tells_email, invitations_without_email }) =>
      invitations_without_email === 'refused' || !oidc_tells_email,
    'invitations_without_email=accepted needs oidc_tells_email=false',
  ),
);

/** How tokens of an issuer are told to be good; `functions/platform/auth/tokens.ts` reads it from the environment. */
export interface OidcIssuer {
  issuer: string;
  jwks_uri: string;
  audience: string | string[];
  audience_claim: 'aud' | 'client_id';
  algorithms: string[];
  typ: string | null;
  tells_email: boolean;
}

export interface Config {
  domain?: { name: string; certificateArn: string };
  oidc?: OidcIssuer;
  invitationsWithoutEmail: 'refused' | 'accepted';
  consoleOrigin?: string;
  cognitoPlan: 'essentials' | 'plus';
  platformAdmins: string;
  tokenTtlSeconds: number;
  heartbeatSeconds: number;
  nodeSuspectSeconds: number;
  nodeLostSeconds: number;
  rootWithoutRemap: 'refused' | 'allowed';
  authorizationCacheSeconds: number;
  reservedConcurrency: boolean;
  lambdaConcurrencyQuota: number;
  deletionProtection: boolean;
  registryName: string;
  front: boolean;
  alarmEmail?: string;
  logRetentionDays: RetentionDays;
}

const NAMES = [
  'domain_name',
  'certificate_arn',
  'oidc_issuer',
  'oidc_jwks_uri',
  'oidc_audience',
  'oidc_audience_claim',
  'oidc_algorithm',
  'oidc_typ',
  'oidc_tells_email',
  'invitations_without_email',
  'console_origin',
  'cognito_plan',
  'platform_admins',
  'token_ttl_seconds',
  'heartbeat_seconds',
  'node_suspect_seconds',
  'node_lost_seconds',
  'root_without_remap',
  'authorization_cache_seconds',
  'reserved_concurrency',
  'lambda_concurrency_quota',
  'deletion_protection',
  'registry_name',
  'front',
  'alarm_email',
  'log_retention_days',
] as const;

export function configOf({ node }: IConstruct): Config {
  const set = NAMES.map((name) => [name, node.tryGetContext(name) as unknown]).filter(
    ([, value]) => value !== undefined,
  );
  const parsed = v.safeParse(Context, Object.fromEntries(set));
  if (!parsed.success) {
    const faults = parsed.issues.map(({ path, message }) =>
      [path?.[0]?.key, message].filter(Boolean).join(' '),
    );
    throw new Error(
      `The CDK context is not valid: ${faults.join('; ')}. Set values with -c name=value or in cdk.json.`,
    );
  }
  const context = parsed.output;
  const { domain_name, certificate_arn, alarm_email, log_retention_days } = context;
  const oidc = oidcIssuer(context);
  return {
    ...(domain_name && certificate_arn && { domain: { name: domain_name, certificateArn: certificate_arn } }),
    ...(oidc && { oidc }),
    invitationsWithoutEmail: context.invitations_without_email,
    ...(context.console_origin && { consoleOrigin: context.console_origin }),
    cognitoPlan: context.cognito_plan,
    platformAdmins: context.platform_admins,
    tokenTtlSeconds: context.token_ttl_seconds,
    heartbeatSeconds: context.heartbeat_seconds,
    nodeSuspectSeconds: context.node_suspect_seconds,
    nodeLostSeconds: context.node_lost_seconds,
    rootWithoutRemap: context.root_without_remap,
    authorizationCacheSeconds: context.authorization_cache_seconds,
    reservedConcurrency: context.reserved_concurrency,
    lambdaConcurrencyQuota: context.lambda_concurrency_quota,
    deletionProtection: context.deletion_protection,
    registryName: context.registry_name,
    front: context.front,
    ...(alarm_email && { alarmEmail: alarm_email }),
    logRetentionDays: log_retention_days,
  };
}

/** Encrypted, unless the console runs on the machine of whoever develops it. */
function isOrigin(text: string): boolean {
  return /^(https:|http:\/\/127\.0\.0\.1(:\d+)?$)/.test(text) && URL.parse(text)?.origin === text;
}

function oidcIssuer(context: v.InferOutput<typeof Context>): OidcIssuer | undefined {
  const { oidc_issuer: issuer } = context;
  if (!issuer) return undefined;
  return {
    issuer,
    jwks_uri: context.oidc_jwks_uri ?? `${issuer}/jwks`,
    audience: context.oidc_audience,
    audience_claim: context.oidc_audience_claim,
    algorithms: [context.oidc_algorithm],
    typ: context.oidc_typ === 'none' ? null : context.oidc_typ,
    tells_email: context.oidc_tells_email,
  };
}
