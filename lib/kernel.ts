import { Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IConstruct } from 'constructs';
import type { Variable } from '../functions/platform/environment.ts';
import {
  AUDIT_PARTITIONS,
  AUTHORIZATION_PARTITIONS,
  OUTBOX_PARTITIONS,
  RECEIPT_PARTITIONS,
} from '../functions/platform/data/keys.ts';
import type { Api } from './api.ts';
import { configOf } from './config.ts';
import type { DataStack } from './data-stack.ts';
import { grantItems } from './grants.ts';
import type { PlatformFunction } from './platform-function.ts';
import type { ReactionQueues } from './reaction-queues.ts';

export interface KernelProps {
  data: DataStack;
  api: Api;
  queues: ReactionQueues;
}

/** What the kernel in functions/platform needs in every function that answers requests, whatever its domain. */
export class Kernel {
  readonly environment: Partial<Record<Variable, string>>;
  readonly control: ITable;
  readonly signingKeyArns: string[];
  readonly queues: ReactionQueues;

  constructor(scope: IConstruct, { data, api, queues }: KernelProps) {
    const { oidc = data.people?.oidc, platformAdmins, authorizationCacheSeconds } = configOf(scope);
    this.control = data.control;
    this.queues = queues;
    this.signingKeyArns = data.signingKeys.map((key) => key.keyArn);
    this.environment = {
      AUTHORIZATION_CACHE_SECONDS: String(authorizationCacheSeconds),
      CONTROL_TABLE: data.control.tableName,
      OIDC_ISSUERS: Stack.of(scope).toJsonString([oidc]),
      PLATFORM_ADMINS: platformAdmins,
      TOKEN_ISSUER: api.url,
    };
  }

  /** Authorization, and the records of a change: audit, outbox, receipt. These are only added, never altered. */
  grant(fn: PlatformFunction): void {
    grantItems(fn, this.control, {
      actions: ['BatchGetItem'],
      partitions: [...AUTHORIZATION_PARTITIONS],
    });
    this.grantTell(fn);
    grantItems(fn, this.control, { actions: ['GetItem', 'PutItem'], partitions: [RECEIPT_PARTITIONS] });
  }

  /** The audit and the outbox: only ever added to. */
  grantTell(fn: PlatformFunction): void {
    grantItems(fn, this.control, { actions: ['PutItem'], partitions: [AUDIT_PARTITIONS, OUTBOX_PARTITIONS] });
  }

  /** For the function that issues tokens; the others verify them with the public keys it keeps in the table. */
  grantSign(fn: PlatformFunction): void {
    fn.addToRolePolicy(
      new PolicyStatement({ actions: ['kms:GetPublicKey', 'kms:Sign'], resources: this.signingKeyArns }),
    );
  }
}
