import { createHash } from 'node:crypto';
import { ACCOUNT, REGION } from '../wire/aws.ts';
import type { AssembledStack } from '../template/assembly.ts';
import { Templates, type Declared, type Identity } from '../template/template.ts';

export interface Resource {
  /** `<stack>/<logical id>`, as CloudFormation would report it. */
  name: string;
  /** An estimate, where AWS makes it up. */
  arn: string;
  type: string;
  /** With every intrinsic resolved; what AWS makes up is estimated here too. */
  properties: Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- of any type of resource
  assets: Map<string, string>;
}

/** How a type is named, and the ARN that ends in the name; other types have short ids that AWS makes up. */
const NAMED: Record<string, { property?: string; lengthMax: number; arn: string }> = {
  'AWS::DynamoDB::Table': { property: 'TableName', lengthMax: 255, arn: arn('dynamodb', 'table/') },
  'AWS::ECR::Repository': { property: 'RepositoryName', lengthMax: 256, arn: arn('ecr', 'repository/') },
  'AWS::Events::EventBus': { property: 'Name', lengthMax: 256, arn: arn('events', 'event-bus/') },
  'AWS::IAM::Role': { property: 'RoleName', lengthMax: 64, arn: `arn:aws:iam::${ACCOUNT}:role/` },
  'AWS::KMS::Key': { lengthMax: 36, arn: arn('kms', 'key/') },
  'AWS::Lambda::Function': { property: 'FunctionName', lengthMax: 64, arn: arn('lambda', 'function:') },
  'AWS::Logs::LogGroup': { property: 'LogGroupName', lengthMax: 512, arn: arn('logs', 'log-group:') },
  'AWS::S3::Bucket': { property: 'BucketName', lengthMax: 63, arn: 'arn:aws:s3:::' },
  'AWS::SNS::Topic': { property: 'TopicName', lengthMax: 256, arn: arn('sns', '') },
  'AWS::SQS::Queue': { property: 'QueueName', lengthMax: 80, arn: arn('sqs', '') },
  'AWS::StepFunctions::StateMachine': {
    property: 'StateMachineName',
    lengthMax: 80,
    arn: arn('states', 'stateMachine:'),
  },
};

/** Types whose `Ref` is not their name. */
const REFERENCE: Record<string, 'arn' | 'url'> = {
  'AWS::SNS::Topic': 'arn',
  'AWS::SQS::Queue': 'url',
  'AWS::StepFunctions::StateMachine': 'arn',
};

const ID_LENGTH = 20;

/** What a set of stacks would be once deployed: read, not hosted, so any type of resource may stand in it. */
export class Deployed {
  readonly stacks: readonly AssembledStack[];
  readonly resources: Resource[];
  /** What refers to nothing. */
  readonly unresolved: string[] = [];
  #byName = new Map<string, Resource>();

  constructor(stacks: AssembledStack[]) {
    this.stacks = stacks;
    this.resources = this.#declared().map((declared) => this.#read(declared));
  }

  ofType(type: string): Resource[] {
    return this.resources.filter((resource) => resource.type === type);
  }

  /** The resource that a resolved name, address or ARN belongs to. */
  named(reference: unknown): Resource | undefined {
    return typeof reference === 'string' ? this.#byName.get(reference) : undefined;
  }

  #declared(): Declared[] {
    try {
      return new Templates([...this.stacks], identify).resources();
    } catch (error) {
      this.unresolved.push((error as Error).message);
      return [];
    }
  }

  #read({ stack, logicalId, type, properties, identity, assets }: Declared): Resource {
    const arn = String(identity.attributes?.['Arn']);
    const resource: Resource = { name: `${stack}/${logicalId}`, arn, type, properties: {}, assets };
    for (const key of Object.keys(properties)) {
      try {
        resource.properties[key] = properties[key];
      } catch (error) {
        this.unresolved.push(`${resource.name}: ${key} cannot be resolved: ${(error as Error).message}`);
      }
    }
    for (const reference of [identity.ref, arn]) this.#byName.set(reference, resource);
    return resource;
  }
}

/** As long as what AWS would make up, and different for every resource. */
function identify(resource: Omit<Declared, 'identity'>): Identity {
  const named = NAMED[resource.type] ?? { lengthMax: ID_LENGTH, arn: arn('service', '') };
  const name = nameOf(resource, named);
  const known: Record<string, string> = {
    Arn: named.arn + name,
    StreamArn: `${named.arn}${name}/stream/2000-01-01T00:00:00.000`,
  };
  const references = {
    name,
    arn: named.arn + name,
    url: `https://sqs.${REGION}.amazonaws.com/${ACCOUNT}/${name}`,
  };
  const attributes = new Proxy(known, {
    get: (_, attribute) => known[String(attribute)] ?? `${name}.${String(attribute)}`,
  });
  return { ref: references[REFERENCE[resource.type] ?? 'name'], attributes };
}

/** CloudFormation's way of naming: stack, logical id and a random tail, cut to what the type allows. */
function nameOf(
  resource: Omit<Declared, 'identity'>,
  { property, lengthMax }: { property?: string; lengthMax: number },
): string {
  const stem = `${resource.stack}-${resource.logicalId}`;
  const random = createHash('sha256').update(stem).digest('hex');
  if (property === undefined) return random.slice(0, lengthMax);
  const given = resource.properties[property];
  if (typeof given === 'string') return given;
  return `${stem.slice(0, lengthMax - 13)}-${random.slice(0, 12)}`;
}

function arn(service: string, prefix: string): string {
  return `arn:aws:${service}:${REGION}:${ACCOUNT}:${prefix}`;
}
