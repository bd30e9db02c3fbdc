import {
  ACCOUNT,
  AwsError,
  REGION,
  type Access,
  type PolicyDocument,
  type PolicyStatement,
  type Principal,
} from '../wire/aws.ts';
import { isKnownAction } from './iam-actions.ts';
import { whyDenied, type Question } from './iam-simulation.ts';
import { policyProblem } from './policy-document.ts';
import { userId } from './principals.ts';

interface Role {
  arn: string;
  trust: PolicyDocument;
  policies: PolicyDocument[];
}

const DECISIONS_MAX = 20_000;

/** The template's policies, asked before anything is done. What cannot be decided is denied. */
export class Iam {
  #roles = new Map<string, Role>();
  #resourcePolicies = new Map<string, PolicyDocument>();
  /** What has been allowed since the policies last changed; a decision costs about a millisecond. */
  #allowed = new Set<string>();
  #texts = new WeakMap<PolicyDocument, string>();

  putRole(role: Role): void {
    for (const policy of [role.trust, ...role.policies]) checkPolicy(policy, role.arn);
    this.#roles.set(role.arn, role);
    this.#allowed.clear();
  }

  /** Adds to what the resource has: each permission of a function comes as a policy of its own. */
  putResourcePolicy(resourceArn: string, policy: PolicyDocument): void {
    checkPolicy(policy, resourceArn);
    const present = this.#resourcePolicies.get(resourceArn);
    const statements = [...statementsOf(present), ...statementsOf(policy)];
    this.#resourcePolicies.set(resourceArn, {
      Version: policy.Version ?? '2012-10-17',
      Statement: statements,
    });
    this.#allowed.clear();
  }

  reset(): void {
    this.#roles.clear();
    this.#resourcePolicies.clear();
    this.#allowed.clear();
  }

  hasRole(roleArn: string): boolean {
    return this.#roles.has(roleArn);
  }

  authorize(principal: Principal, access: Access): void {
    if (principal.kind === 'operator') return;
    this.#decide(`User: ${principal.arn}`, {
      principal: principal.arn,
      access,
      context: {
        ...globalContext,
        'aws:PrincipalArn': principal.roleArn,
        'aws:PrincipalAccount': ACCOUNT,
        'aws:PrincipalType': 'AssumedRole',
        'aws:userid': userId(principal),
        'aws:PrincipalIsAWSService': 'false',
        'aws:ViaAWSService': 'false',
        ...access.context,
      },
      identityPolicies: this.#roles.get(principal.roleArn)?.policies ?? [],
      sessionPolicy: principal.sessionPolicy,
      resourcePolicy: this.#resourcePolicyOf(access),
    });
  }

  /** An AWS service acting by itself, as API Gateway does when it invokes a function: only resource policies count. */
  authorizeServicePrincipal(service: string, access: Access): void {
    this.#decide(`Service: ${service}`, {
      principal: service,
      access,
      context: {
        ...globalContext,
        'aws:PrincipalIsAWSService': 'true',
        'aws:PrincipalServiceName': service,
        'aws:SourceAccount': ACCOUNT,
        ...access.context,
      },
      identityPolicies: [],
      resourcePolicy: this.#resourcePolicyOf(access),
    });
  }

  trusts(roleArn: string, servicePrincipal: string): boolean {
    try {
      this.authorizeServicePrincipal(servicePrincipal, { action: 'sts:AssumeRole', resource: roleArn });
      return true;
    } catch (error) {
      if (error instanceof AwsError) return false;
      throw error;
    }
  }

  #decide(who: string, question: Question): void {
    const { action, resource } = question.access;
    const decision = this.#decisionKey(question);
    if (decision !== undefined && this.#allowed.has(decision)) return;
    const reason = this.#reasonToDeny(question);
    if (reason !== undefined) {
      throw new AwsError(
        'AccessDeniedException',
        `${who} is not authorized to perform: ${action} on resource: ${resource} ${reason}`,
      );
    }
    if (decision === undefined) return;
    if (this.#allowed.size >= DECISIONS_MAX) this.#allowed.clear();
    this.#allowed.add(decision);
  }

  #reasonToDeny(question: Question): string | undefined {
    const { action, resource } = question.access;
    if (!isKnownAction(action))
      return 'because IAM has no action of this name; the local service asked for the wrong one';
    const malformed = question.sessionPolicy && policyProblem(question.sessionPolicy);
    if (malformed !== undefined) return `because the session policy is malformed: ${malformed}`;
    if (action === 'sts:AssumeRole' && !this.#roles.has(resource)) return 'because there is no such role';
    try {
      const now = new Date();
      const clock = {
        'aws:CurrentTime': now.toISOString(),
        'aws:EpochTime': String(Math.floor(now.getTime() / 1000)),
      };
      return whyDenied({ ...question, context: { ...clock, ...question.context } });
    } catch (error) {
      return `because its policies could not be evaluated: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  /**
   * Only what the policies look at belongs to the key, so that a leading key which no policy mentions does not make
   * every request a new decision. Policies that look at the clock are asked every time.
   */
  #decisionKey({
    principal,
    access,
    context,
    identityPolicies,
    sessionPolicy,
    resourcePolicy,
  }: Question): string | undefined {
    const policies = [...identityPolicies, sessionPolicy, resourcePolicy].filter(
      (policy) => policy !== undefined,
    );
    const texts = policies.map((policy) => this.#textOf(policy));
    const isMentioned = (name: string) => texts.some((text) => text.includes(name.toLowerCase()));
    if (isMentioned('aws:CurrentTime') || isMentioned('aws:EpochTime')) return undefined;
    const relevant = Object.entries(context).filter(([name]) => isMentioned(name));
    return JSON.stringify([principal, access.action, access.resource, sessionPolicy, relevant]);
  }

  #textOf(policy: PolicyDocument): string {
    let text = this.#texts.get(policy);
    if (text === undefined) {
      text = JSON.stringify(policy).toLowerCase();
      this.#texts.set(policy, text);
    }
    return text;
  }

  #resourcePolicyOf({ action, resource }: Access): PolicyDocument | undefined {
    if (action === 'sts:AssumeRole') return this.#roles.get(resource)?.trust;
    return this.#resourcePolicies.get(resource) ?? this.#resourcePolicies.get(policyOwner(resource));
  }
}

function statementsOf(policy: PolicyDocument | undefined): PolicyStatement[] {
  const statements = policy?.Statement ?? [];
  return Array.isArray(statements) ? statements : [statements];
}

/** Objects answer to their bucket's policy. */
function policyOwner(resource: string): string {
  return resource.startsWith('arn:aws:s3:::') ? (resource.split('/', 1)[0] ?? resource) : resource;
}

function checkPolicy(policy: PolicyDocument, owner: string): void {
  const problem = policyProblem(policy);
  if (problem !== undefined) throw new Error(`A policy of ${owner} is malformed: ${problem}.`);
}

const globalContext = {
  // At AWS every request comes over TLS; policies that insist on it must hold here, over loopback, as well.
  'aws:SecureTransport': 'true',
  'aws:SourceIp': '127.0.0.1',
  'aws:RequestedRegion': REGION,
  'aws:ResourceAccount': ACCOUNT,
};
