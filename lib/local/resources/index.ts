import type { Declared, Identity } from '../template/template.ts';
import { api, integration, route, stage } from './api-gateway.ts';
import { table } from './dynamodb.ts';
import { repository } from './ecr.ts';
import { eventBus } from './events.ts';
import { policy, role } from './iam.ts';
import type { ResourceKind, World } from './kind.ts';
import { alias, key } from './kms.ts';
import { eventInvokeConfig, eventSourceMapping, lambdaFunction, permission } from './lambda.ts';
import { observedKinds } from './observed.ts';
import { bucket, bucketPolicy } from './s3.ts';
import { schedule } from './scheduler.ts';
import { queue, queuePolicy } from './sqs.ts';
import { stateMachine } from './step-functions.ts';

/** Every resource type the engine hosts, in the order they are taken up: what others name comes first. */
export const KINDS: readonly ResourceKind[] = [
  key,
  alias,
  table,
  queue,
  bucket,
  repository,
  eventBus,
  role,
  policy,
  queuePolicy,
  bucketPolicy,
  lambdaFunction,
  eventInvokeConfig,
  eventSourceMapping,
  permission,
  stateMachine,
  schedule,
  api,
  stage,
  integration,
  route,
  ...observedKinds,
];

const BY_TYPE = new Map(KINDS.map((kind) => [kind.type, kind]));

export function identifyWith(world: World): (resource: Omit<Declared, 'identity'>) => Identity {
  return (resource) => kindOf(resource).identify(resource, world);
}

/** Stops at the first thing that would otherwise be silently missing on this machine. */
export function kindOf(resource: Omit<Declared, 'identity'>): ResourceKind {
  const name = `${resource.stack}/${resource.logicalId}`;
  const kind = BY_TYPE.get(resource.type);
  if (kind === undefined) {
    throw new Error(
      `${name} is a ${resource.type}, which the local engine cannot host. Add it to lib/local/resources, or leave it out of the stack.`,
    );
  }
  if (kind.ignored === 'all') return kind;
  for (const property of Object.keys(resource.properties)) {
    if (kind.honoured.includes(property) || kind.ignored.includes(property)) continue;
    throw new Error(
      `${name} (${resource.type}) sets ${property}, which the local engine does not know. ` +
        `Honour it in lib/local/resources, or list it there as making no difference on one machine.`,
    );
  }
  return kind;
}
