import { Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import {
  FEED_PARTITIONS,
  OUTBOX_KIND,
  OUTBOX_PARTITIONS,
  SERVICE_ACCOUNT_PARTITIONS,
  USER_PARTITIONS,
} from '../functions/platform/keys.ts';
import { SELFTEST_PARTITIONS } from '../functions/selftest/keys.ts';
import { configOf } from './config.ts';
import { grantItems } from './grants.ts';
import type { Promotion } from './promotion.ts';
import type { Selftest } from './selftest.ts';
import type { Socket } from './socket.ts';
import { StreamConsumer } from './stream-consumer.ts';

export interface RelayProps {
  control: ITable;
  socket: Socket;
  selftest: Selftest;
  promotion: Promotion;
}

/** Publishes what was committed: to the feed of its place, to who follows it, on the bus, and to our own workflows. */
export class Relay extends Construct {
  /** Every event of the platform, for whoever deploys rules beside it. */
  readonly bus: EventBus;

  constructor(scope: Construct, id: string, { control, socket, selftest, promotion }: RelayProps) {
    super(scope, id);
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: `${Stack.of(this).stackName}-events`,
      description: 'What happens on the platform, as it happens.',
    });

    const relay = new StreamConsumer(this, 'Events', {
      entry: 'functions/relay/relay-events.ts',
      description: 'Relays the outbox to feed, sockets, bus and workflows, in order.',
      table: control,
      filters: [{ eventName: ['INSERT'], dynamodb: { NewImage: { kind: { S: [OUTBOX_KIND] } } } }],
      // Some minutes: what stands behind it may be away for a while, and giving up an event loses what it asked for.
      retriesMax: 20,
      timeoutSeconds: 60,
      environment: {
        AUTHORIZATION_CACHE_SECONDS: String(configOf(this).authorizationCacheSeconds),
        CONTROL_TABLE: control.tableName,
        EVENT_BUS_NAME: this.bus.eventBusName,
        PROMOTION_MACHINE_ARN: promotion.machineArn,
        SELFTEST_MACHINE_ARN: selftest.machineArn,
        SOCKET_URL: socket.url,
      },
    });
    socket.grantPushTo(relay, control);
    // Whether who follows a feed may still do so.
    grantItems(relay, control, {
      actions: ['BatchGetItem'],
      partitions: [USER_PARTITIONS, SERVICE_ACCOUNT_PARTITIONS],
    });
    grantItems(relay, control, {
      actions: ['BatchGetItem'],
      partitions: [OUTBOX_PARTITIONS, FEED_PARTITIONS],
    });
    grantItems(relay, control, { actions: ['PutItem', 'UpdateItem'], partitions: [FEED_PARTITIONS] });
    relay.addToRolePolicy(
      new PolicyStatement({ actions: ['events:PutEvents'], resources: [this.bus.eventBusArn] }),
    );
    grantItems(relay, control, { actions: ['GetItem', 'UpdateItem'], partitions: [SELFTEST_PARTITIONS] });
    selftest.grantStart(relay);
    promotion.grantReact(relay);
  }
}
