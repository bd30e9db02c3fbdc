import { Construct } from 'constructs';
import {
  INVITATION_PARTITIONS,
  ORG_SLUG_PARTITIONS,
  ORGS_PARTITION,
  PROJECT_SLUG_PARTITIONS,
} from '../functions/identity/keys.ts';
import { ASSERTION_PARTITIONS } from '../functions/identity/service-account-keys.ts';
import {
  counterPartitions,
  NODE_PRINCIPAL_PARTITIONS,
  ORG_PARTITIONS,
  PROJECT_PARTITIONS,
  SERVICE_ACCOUNT_PARTITIONS,
  SIGNING_PARTITION,
  USER_PARTITIONS,
} from '../functions/platform/data/keys.ts';
import { configOf } from './config.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';

export interface IdentityProps {
  kernel: Kernel;
}

/** Organisations, projects, people, service accounts and their tokens. */
export class Identity extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string, { kernel }: IdentityProps) {
    super(scope, id);
    const { control } = kernel;
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/identity/api.ts',
      description:
        'Answers requests about organisations, projects, people and service accounts; issues tokens.',
      memoryMb: 1024,
      // Rates are counted in each instance: where concurrency is reserved, the number of instances bounds them.
      concurrencyMax: 50,
      environment: {
        ...kernel.environment,
        SIGNING_KEY_IDS: kernel.signingKeyArns.join(','),
        TOKEN_TTL_SECONDS: String(configOf(this).tokenTtlSeconds),
        INVITATIONS_WITHOUT_EMAIL: configOf(this).invitationsWithoutEmail,
      },
    });
    kernel.grant(this.api);
    kernel.grantSign(this.api);

    const places = [ORG_PARTITIONS, PROJECT_PARTITIONS];
    const people = [USER_PARTITIONS, SERVICE_ACCOUNT_PARTITIONS];
    grantItems(this.api, control, {
      actions: [
        'GetItem',
        'BatchGetItem',
        'Query',
        'PutItem',
        'UpdateItem',
        'DeleteItem',
        'ConditionCheckItem',
      ],
      partitions: [...places, ...people, INVITATION_PARTITIONS],
    });
    grantItems(this.api, control, {
      actions: ['PutItem', 'DeleteItem'],
      partitions: [ORG_SLUG_PARTITIONS, PROJECT_SLUG_PARTITIONS],
    });
    grantItems(this.api, control, {
      actions: ['GetItem', 'PutItem', 'UpdateItem', 'ConditionCheckItem'],
      partitions: [SIGNING_PARTITION],
    });
    // Nodes are known where they join; here they only prove who they are.
    grantItems(this.api, control, { actions: ['GetItem'], partitions: [NODE_PRINCIPAL_PARTITIONS] });
    // A project is archived only while nothing runs there.
    grantItems(this.api, control, {
      actions: ['ConditionCheckItem'],
      partitions: [counterPartitions('project')],
    });
    // An assertion is used once and never again: its row is only ever added.
    grantItems(this.api, control, {
      actions: ['PutItem'],
      partitions: [ASSERTION_PARTITIONS],
    });
    grantItems(this.api, control, {
      actions: ['Query'],
      partitions: [...places, ORGS_PARTITION],
      index: 'gsi1',
    });
  }
}
