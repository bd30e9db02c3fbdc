import { Duration, Stack } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import {
  FEED_PARTITIONS,
  OUTBOX_KIND,
  OUTBOX_PARTITIONS,
  OUTBOX_SHARDS,
  SERVICE_ACCOUNT_PARTITIONS,
  USER_PARTITIONS,
} from '../functions/platform/data/keys.ts';
import { DISPATCHED_PARTITIONS, RELAYED_TOGETHER_MAX, SWEEP_PARTITION } from '../functions/events/keys.ts';
import { configOf } from './config.ts';
import { grantItems, grantSend } from './grants.ts';
import type { Kernel } from './kernel.ts';
import type { PlatformFunction } from './platform-function.ts';
import { QueueConsumer } from './queue-consumer.ts';
import type { ReactionQueue } from './reaction-queues.ts';
import { ScheduledFunction } from './scheduled-function.ts';
import type { Socket } from './socket.ts';
import { StreamConsumer } from './stream-consumer.ts';

export interface RelayProps {
  kernel: Kernel;
  socket: Socket;
}

/**
 * The two readers of the control table's stream. The relay publishes committed events: on the feed of their place, to
 * its followers, on the bus. The dispatcher notifies the domains that react to them. Neither waits for the other.
 */
export class Relay extends Construct {
  /** Every event of the platform, for rules that the platform team deploys. */
  readonly bus: EventBus;
  private readonly props: RelayProps;

  constructor(scope: Construct, id: string, props: RelayProps) {
    super(scope, id);
    this.props = props;
    const { control } = props.kernel;
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: `${Stack.of(this).stackName}-events`,
      description: 'The events of the platform.',
    });
    const environment = {
      AUTHORIZATION_CACHE_SECONDS: String(configOf(this).authorizationCacheSeconds),
      CONTROL_TABLE: control.tableName,
      EVENT_BUS_NAME: this.bus.eventBusName,
      SOCKET_URL: props.socket.url,
    };

    const again = new QueueConsumer(this, 'Again', {
      entry: 'functions/events/relay-again.ts',
      description: 'Retries events that could not be relayed and were set aside.',
      timeoutSeconds: 30,
      environment,
    });
    this.grantRelay(again);
    const RELAY_QUEUE_URL = again.work.queue.queueUrl;

    const relay = new StreamConsumer(this, 'Events', {
      entry: 'functions/events/relay-events.ts',
      description: 'Relays events from the outbox to the feed, the sockets and the bus, in order.',
      table: control,
      filters: [inserted({})],
      batchSize: RELAYED_TOGETHER_MAX,
      timeoutSeconds: 60,
      environment: { ...environment, RELAY_QUEUE_URL },
    });
    this.grantRelay(relay);
    grantSend(relay, again.work.queue);

    const dispatch = new StreamConsumer(this, 'Dispatch', {
      entry: 'functions/events/dispatch-events.ts',
      description: 'Notifies the domains that react to events.',
      table: control,
      filters: [
        inserted({
          event: { M: { type: { S: [...new Set(this.reactionQueues.flatMap(({ types }) => types))] } } },
        }),
      ],
      batchSize: 100,
      // Reactions come in any order: a batch need not wait for the one before.
      parallelization: 4,
      timeoutSeconds: 30,
      environment: { CONTROL_TABLE: control.tableName, REACTION_QUEUES: this.queuesAsText() },
    });
    this.grantDispatch(dispatch);

    const sweep = new ScheduledFunction(this, 'Sweep', {
      entry: 'functions/events/sweep-outbox.ts',
      description: 'Relays and dispatches events that were missed.',
      every: Duration.minutes(5),
      environment: { ...environment, RELAY_QUEUE_URL, REACTION_QUEUES: this.queuesAsText() },
    });
    this.grantRelay(sweep);
    grantSend(sweep, again.work.queue);
    this.grantDispatch(sweep);
    grantItems(sweep, control, { actions: ['Query'], partitions: [...OUTBOX_SHARDS], index: 'gsi1' });
    grantItems(sweep, control, {
      actions: ['BatchGetItem'],
      partitions: [FEED_PARTITIONS, DISPATCHED_PARTITIONS],
    });
    grantItems(sweep, control, { actions: ['GetItem', 'PutItem'], partitions: [SWEEP_PARTITION] });
  }

  /** Numbering events and putting them on the feed, telling who may still follow it, and putting them on the bus. */
  private grantRelay(fn: PlatformFunction): void {
    const { socket, kernel } = this.props;
    const { control } = kernel;
    socket.grantPushTo(fn, control);
    grantItems(fn, control, {
      actions: ['BatchGetItem'],
      partitions: [USER_PARTITIONS, SERVICE_ACCOUNT_PARTITIONS],
    });
    grantItems(fn, control, { actions: ['BatchGetItem'], partitions: [OUTBOX_PARTITIONS, FEED_PARTITIONS] });
    grantItems(fn, control, { actions: ['Query', 'PutItem', 'UpdateItem'], partitions: [FEED_PARTITIONS] });
    fn.addToRolePolicy(
      new PolicyStatement({ actions: ['events:PutEvents'], resources: [this.bus.eventBusArn] }),
    );
  }

  private grantDispatch(fn: PlatformFunction): void {
    grantItems(fn, this.props.kernel.control, {
      actions: ['BatchWriteItem'],
      partitions: [DISPATCHED_PARTITIONS],
    });
    for (const { work } of this.reactionQueues) grantSend(fn, work.queue);
  }

  private get reactionQueues(): ReactionQueue[] {
    return [...this.props.kernel.queues.all.values()];
  }

  /** As functions/events/dispatch-to-domains.ts reads it. */
  private queuesAsText(): string {
    return Stack.of(this).toJsonString(
      this.reactionQueues.map(({ work, types }) => ({ url: work.queue.queueUrl, types })),
    );
  }
}

/** Matches outbox rows of the stream, as they were written. */
const inserted = (image: object): Record<string, unknown> => ({
  eventName: ['INSERT'],
  dynamodb: { NewImage: { kind: { S: [OUTBOX_KIND] }, ...image } },
});
