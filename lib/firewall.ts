import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { platformProblems } from '../functions/platform/errors.ts';

/** Requests of one address in five minutes. Far below what the stage of the API takes from everybody together. */
const REQUESTS_MAX = { anonymous: 300, any: 6_000 } as const;
const WINDOW_SECONDS = 300;

const TOO_MANY = 'too-many-requests';

/** Refuses addresses that ask too often, before they cost anybody else anything: anonymous callers much sooner. */
export class Firewall extends Construct {
  readonly arn: string;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const acl = new CfnWebACL(this, 'Acl', {
      description: 'Limits how often one address may call the platform.',
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: observed('All'),
      customResponseBodies: { [TOO_MANY]: { contentType: 'APPLICATION_JSON', content: tooMany() } },
      rules: [
        rateRule('Anonymous', 0, REQUESTS_MAX.anonymous, { notStatement: { statement: hasAuthorization() } }),
        rateRule('Everybody', 1, REQUESTS_MAX.any),
      ],
    });
    this.arn = acl.attrArn;
  }
}

function rateRule(
  name: string,
  priority: number,
  limit: number,
  scopeDownStatement?: CfnWebACL.StatementProperty,
): CfnWebACL.RuleProperty {
  return {
    name,
    priority,
    statement: {
      rateBasedStatement: {
        aggregateKeyType: 'IP',
        limit,
        evaluationWindowSec: WINDOW_SECONDS,
        ...(scopeDownStatement && { scopeDownStatement }),
      },
    },
    action: {
      block: {
        customResponse: {
          responseCode: 429,
          customResponseBodyKey: TOO_MANY,
          responseHeaders: [{ name: 'retry-after', value: String(WINDOW_SECONDS) }],
        },
      },
    },
    visibilityConfig: observed(name),
  };
}

const hasAuthorization = (): CfnWebACL.StatementProperty => ({
  sizeConstraintStatement: {
    fieldToMatch: { singleHeader: { Name: 'authorization' } },
    comparisonOperator: 'GT',
    size: 0,
    textTransformations: [{ priority: 0, type: 'NONE' }],
  },
});

const observed = (metricName: string): CfnWebACL.VisibilityConfigProperty => ({
  metricName: `Gpuaas${metricName}`,
  cloudWatchMetricsEnabled: true,
  // A sample of a request shows its headers, and tokens with them.
  sampledRequestsEnabled: false,
});

/** The problem that the functions would answer with, but for the correlation id, which nobody has given yet. */
function tooMany(): string {
  const code = 'rate.exceeded';
  const { status, title, retryable } = platformProblems[code];
  return JSON.stringify({ type: `urn:gpuaas:problem:${code}`, title, status, code, retryable });
}
