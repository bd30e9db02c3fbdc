import {
  ACCOUNT,
  AwsError,
  type Access,
  type AwsRequest,
  type PolicyDocument,
  type Service,
} from '../wire/aws.ts';
import type { Iam } from '../iam/iam.ts';
import { policyProblem } from '../iam/policy-document.ts';
import { roleId, sessionArn, userId, type Principals } from '../iam/principals.ts';
import { escapeXml, xmlAnswer } from '../wire/wire.ts';

const DURATION_SECONDS = { min: 900, max: 43_200, default: 3600, chainedMax: 3600 };
const POLICY_CHARACTERS_MAX = 2048;

export function createStsService({ principals, iam }: { principals: Principals; iam: Iam }): Service {
  return {
    scope: 'sts',
    protocol: 'query',
    access(request): Access[] {
      const form = readForm(request);
      switch (form.get('Action')) {
        case 'AssumeRole':
          return [assumeRoleAccess(form)];
        case 'GetCallerIdentity':
          return []; // AWS lets everyone ask who they are.
        default:
          throw new AwsError(
            'InvalidAction',
            `STS here answers AssumeRole and GetCallerIdentity, not ${form.get('Action')}.`,
          );
      }
    },
    async handle(request) {
      const form = readForm(request);
      if (form.get('Action') === 'GetCallerIdentity') return callerIdentity(request);
      return assumeRole(form, request, principals, iam);
    },
  };
}

function assumeRole(form: URLSearchParams, request: AwsRequest, principals: Principals, iam: Iam) {
  const roleArn = required(form, 'RoleArn');
  const sessionName = required(form, 'RoleSessionName');
  if (!/^[\w+=,.@-]{2,64}$/.test(sessionName)) throw invalid('RoleSessionName must match [\\w+=,.@-]{2,64}.');
  if (!iam.hasRole(roleArn)) throw new AwsError('AccessDeniedException', `There is no role ${roleArn}.`);
  const sessionPolicy = readSessionPolicy(form);
  const expiresAt = new Date(Date.now() + durationSeconds(form, request) * 1000);
  const {
    accessKeyId,
    secretAccessKey,
    sessionToken = '',
  } = principals.session(roleArn, sessionName, { sessionPolicy, expiresAt });
  return result('AssumeRole', [
    '<Credentials>',
    element('AccessKeyId', accessKeyId),
    element('SecretAccessKey', secretAccessKey),
    element('SessionToken', sessionToken),
    element('Expiration', expiresAt.toISOString()),
    '</Credentials><AssumedRoleUser>',
    element('AssumedRoleId', `${roleId(roleArn)}:${sessionName}`),
    element('Arn', sessionArn(roleArn, sessionName)),
    '</AssumedRoleUser>',
  ]);
}

function callerIdentity({ principal }: AwsRequest) {
  return result('GetCallerIdentity', [
    element('Arn', principal.arn),
    element('UserId', userId(principal)),
    element('Account', ACCOUNT),
  ]);
}

function assumeRoleAccess(form: URLSearchParams): Access {
  const context = { 'sts:RoleSessionName': form.get('RoleSessionName') ?? '', ...externalId(form) };
  return { action: 'sts:AssumeRole', resource: required(form, 'RoleArn'), context };
}

function externalId(form: URLSearchParams): Record<string, string> {
  const id = form.get('ExternalId');
  return id === null ? {} : { 'sts:ExternalId': id };
}

function durationSeconds(form: URLSearchParams, { principal }: AwsRequest): number {
  const seconds = Number(form.get('DurationSeconds') ?? DURATION_SECONDS.default);
  if (!Number.isInteger(seconds) || seconds < DURATION_SECONDS.min || seconds > DURATION_SECONDS.max) {
    throw invalid(`DurationSeconds must be from ${DURATION_SECONDS.min} to ${DURATION_SECONDS.max}.`);
  }
  // A function's role that assumes another is chaining, and AWS cuts that at an hour.
  if (principal.kind === 'role' && seconds > DURATION_SECONDS.chainedMax) {
    throw invalid(
      'The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining.',
    );
  }
  return seconds;
}

function readSessionPolicy(form: URLSearchParams): PolicyDocument | undefined {
  if (form.has('PolicyArns.member.1.arn'))
    throw invalid('Managed session policies are not hosted here; pass Policy.');
  const text = form.get('Policy');
  if (text === null) return undefined;
  if (text.length > POLICY_CHARACTERS_MAX)
    throw invalid(`Policy may have ${POLICY_CHARACTERS_MAX} characters.`);
  const policy = parseJson(text);
  const problem = policyProblem(policy);
  if (problem === undefined) return policy as PolicyDocument;
  throw new AwsError('MalformedPolicyDocument', `The session policy is malformed: ${problem}.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readForm(request: AwsRequest): URLSearchParams {
  return new URLSearchParams(request.body.toString('utf8'));
}

function required(form: URLSearchParams, name: string): string {
  const value = form.get(name);
  if (value === null || value === '') throw invalid(`The request must contain ${name}.`);
  return value;
}

function invalid(message: string): AwsError {
  return new AwsError('ValidationError', message);
}

function result(operation: string, elements: string[]) {
  const namespace = 'https://sts.amazonaws.com/doc/2011-06-15/';
  return xmlAnswer(
    `<${operation}Response xmlns="${namespace}"><${operation}Result>${elements.join('')}</${operation}Result></${operation}Response>`,
  );
}

function element(name: string, text: string): string {
  return `<${name}>${escapeXml(text)}</${name}>`;
}
