import { createHash } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Declared, Identity } from '../template/template.ts';
import type { Plan } from './plan.ts';

/** What an identity may depend on besides the template: where the front door is, and what engines told us. */
export interface World {
  url: string;
  /** `<stack>/<logical id>` of the HTTP API that stands at the root of the front door. */
  rootApi?: string;
  /** ARN of a table → ARN of its stream, which DynamoDB chooses. */
  streams: Map<string, string>;
  /** Where the registry of this machine answers, if it has one. */
  registryHost?: string;
}

/** How the things that hold data are made. All of it is idempotent: every start makes them again. */
export interface Makers {
  dynamodb: DynamoDBClient;
  sqs: SQSClient;
  s3: S3Client;
  world: World;
  createKey(key: { id: string; keySpec: string; keyUsage: string }): void;
  putAlias(name: string, keyId: string): void;
  putRepository(repository: { name: string; tagMutability: 'MUTABLE' | 'IMMUTABLE' }): void;
}

/** One resource type the engine can host. */
export interface ResourceKind {
  type: string;
  /** Properties that have their effect here. */
  honoured: readonly string[];
  /** Properties that make no difference on one machine; `all` for types that are only watched or documented. */
  ignored: readonly string[] | 'all';
  identify(resource: Omit<Declared, 'identity'>, world: World): Identity;
  /** Makes what holds data. */
  create?(resource: Declared, makers: Makers): Promise<void> | void;
  /** Notes what is to run; the whole plan takes effect at once. */
  plan?(resource: Declared, plan: Plan): void;
}

/** CloudFormation's way of naming what the template leaves unnamed, without its random tail. */
export function physicalName(
  resource: Omit<Declared, 'identity'>,
  property: string,
  lengthMax: number,
): string {
  const given = resource.properties[property];
  if (typeof given === 'string') return given;
  const name = `${resource.stack}-${resource.logicalId}`;
  if (name.length <= lengthMax) return name;
  return `${name.slice(0, lengthMax - 9)}-${fingerprint(name).slice(0, 8)}`;
}

/** A stable stand-in for the ids AWS makes up. */
export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function fingerprintUuid(text: string): string {
  const hex = fingerprint(text);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}
