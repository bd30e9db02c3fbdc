import { runUnsafeSimulation, type EvaluationResult } from '@cloud-copilot/iam-simulate';
import { ACCOUNT, type Access, type PolicyDocument } from '../wire/aws.ts';

export interface Question {
  /** The ARN of a session, or a service such as `lambda.amazonaws.com`. */
  principal: string;
  access: Access;
  context: Record<string, string | string[]>;
  identityPolicies: PolicyDocument[];
  sessionPolicy?: PolicyDocument;
  resourcePolicy?: PolicyDocument;
}

/** Nothing when allowed; otherwise the reason, in AWS's words. */
export function whyDenied(question: Question): string | undefined {
  const { access, identityPolicies, sessionPolicy, resourcePolicy } = question;
  const overall = simulate(question, identityPolicies, resourcePolicy);
  // A session policy narrows whatever the role has been granted, by identity or by resource.
  const session = sessionPolicy && simulate(question, [sessionPolicy], trustInAccount);
  if (overall === 'Allowed' && (session ?? 'Allowed') === 'Allowed') return undefined;

  const identity = simulate(question, identityPolicies, trustInAccount);
  if (identity === 'ExplicitlyDenied') return 'with an explicit deny in an identity-based policy';
  if (overall === 'ExplicitlyDenied') return 'with an explicit deny in a resource-based policy';
  if (session === 'ExplicitlyDenied') return 'with an explicit deny in a session policy';
  const silent =
    overall === 'Allowed' ? 'session' : identity === 'Allowed' ? 'resource-based' : 'identity-based';
  return `because no ${silent} policy allows the ${access.action} action`;
}

function simulate(
  { principal, access, context }: Question,
  identityPolicies: PolicyDocument[],
  resourcePolicy: PolicyDocument | undefined,
): EvaluationResult {
  return runUnsafeSimulation(
    {
      request: {
        principal,
        action: access.action,
        resource: { resource: literal(access.resource), accountId: ACCOUNT },
        contextVariables: context,
      },
      identityPolicies: identityPolicies.map((policy, index) => ({ name: `policy ${index}`, policy })),
      resourcePolicy: resourcePolicy && named(resourcePolicy),
      serviceControlPolicies: [],
      resourceControlPolicies: [],
    },
    {},
  );
}

/** It reads the name of every policy, and takes that of a resource policy only in the form it has once validated. */
function named(policyDocument: PolicyDocument): object {
  return { __validated: true, policyDocument, metadata: { name: 'resource policy' }, errors: [] };
}

/** Lets identity policies decide even where a service (KMS, STS) asks the resource to trust the account first. */
const trustInAccount: PolicyDocument = {
  Version: '2012-10-17',
  Statement: {
    Effect: 'Allow',
    Principal: { AWS: `arn:aws:iam::${ACCOUNT}:root` },
    Action: '*',
    Resource: '*',
  },
};

/**
 * The simulator takes an asterisk in a request for a pattern, and a pattern is allowed by any statement it
 * overlaps. A request names one thing: an object key may hold an asterisk, and an action without resources
 * (`*`) is granted only by a statement on `*`, which is all that can match the second ARN here.
 */
function literal(resource: string): string {
  return resource === '*' ? 'arn:any:any:any:any:any' : resource.replaceAll('*', '\uFFFF');
}
