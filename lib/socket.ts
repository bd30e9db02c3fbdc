import { ArnFormat, Stack } from 'aws-cdk-lib';
import { WebSocketApi, WebSocketStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { WebSocketLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import {
  FEED_PARTITIONS,
  SERVICE_ACCOUNT_PARTITIONS,
  USER_PARTITIONS,
} from '../functions/platform/data/keys.ts';
import {
  CONNECTION_PARTITIONS,
  FOLLOWER_PARTITIONS,
  TICKET_PARTITIONS,
  TOPIC_PARTITIONS,
} from '../functions/events/socket-keys.ts';
import { acknowledge, acknowledgeWide } from './acknowledge.ts';
import { configOf } from './config.ts';
import { grantItems } from './grants.ts';
import { PlatformFunction } from './platform-function.ts';
import { PREFIXES } from './wildcards.ts';

const STAGE = 'live';

/** The WebSocket API: a ticket opens a connection, the connection follows one topic, functions push to it. */
export class Socket extends Construct {
  /** `wss://…/live`, by which functions reach the connections. */
  readonly url: string;
  /** Where clients connect. */
  readonly publicUrl: string;
  readonly id: string;
  readonly stageName = STAGE;
  private readonly api: WebSocketApi;

  constructor(scope: Construct, id: string, { control }: { control: ITable }) {
    super(scope, id);
    this.api = new WebSocketApi(this, 'Api', {
      apiName: `${Stack.of(this).stackName}-socket`,
      description: 'Pushes events to the connections that follow them.',
    });
    // From the API's own endpoint: the address CDK would compose names the cloud's host wherever it runs.
    this.url = `${this.api.apiEndpoint}/${STAGE}`;
    this.id = this.api.apiId;
    const { domain, front } = configOf(this);
    this.publicUrl = front && domain ? `wss://${domain.name}/${STAGE}` : this.url;

    const connect = new PlatformFunction(this, 'Connect', {
      entry: 'functions/events/open-connection.ts',
      description: 'Opens a connection for a client with an unused ticket.',
      environment: this.admitting(control),
    });
    this.grantAdmit(connect, control);
    grantItems(connect, control, { actions: ['DeleteItem'], partitions: [TICKET_PARTITIONS] });
    grantItems(connect, control, {
      actions: ['PutItem', 'BatchGetItem', 'DeleteItem'],
      partitions: [CONNECTION_PARTITIONS],
    });
    grantItems(connect, control, { actions: ['GetItem', 'UpdateItem'], partitions: [FOLLOWER_PARTITIONS] });

    const disconnect = new PlatformFunction(this, 'Disconnect', {
      entry: 'functions/events/close-connection.ts',
      description: 'Removes a connection and its subscriptions.',
      environment: { CONTROL_TABLE: control.tableName },
    });
    this.grantFollowing(disconnect, control, ['GetItem', 'DeleteItem'], ['DeleteItem']);

    const message = new PlatformFunction(this, 'Message', {
      entry: 'functions/events/receive-message.ts',
      description: 'Answers messages from clients: subscribes them to events.',
      environment: { ...this.admitting(control), SOCKET_URL: this.url },
    });
    this.grantAdmit(message, control);
    this.grantFollowing(message, control, ['GetItem', 'DeleteItem'], ['PutItem', 'DeleteItem']);
    // Where the followed feed stands.
    grantItems(message, control, { actions: ['GetItem'], partitions: [FEED_PARTITIONS] });
    this.grantPost(message);

    const routes = { $connect: connect, $disconnect: disconnect, $default: message };
    for (const [route, fn] of Object.entries(routes)) {
      this.api.addRoute(route, {
        integration: new WebSocketLambdaIntegration(`${fn.node.id}Integration`, fn),
      });
    }
    acknowledge(
      this.api,
      'AwsSolutions-APIG4',
      'A browser cannot sign the request that opens a WebSocket: the connect function admits only clients with a single-use ticket, and the other routes exist only inside an admitted connection.',
    );
    const stage = new WebSocketStage(this, 'Stage', {
      webSocketApi: this.api,
      stageName: STAGE,
      autoDeploy: true,
      throttle: { rateLimit: 200, burstLimit: 400 },
    });
    acknowledge(
      stage,
      'AwsSolutions-APIG1',
      'A WebSocket stage writes access logs through a role of the whole account, which this stack does not own; the functions behind the routes log every refusal.',
    );
  }

  /** The right to push to whoever follows a topic, and to forget who has left. */
  grantPushTo(grantee: PlatformFunction, control: ITable): void {
    this.grantFollowing(grantee, control, ['DeleteItem'], ['Query', 'DeleteItem']);
    this.grantPost(grantee);
  }

  private admitting(control: ITable): Record<string, string> {
    const { authorizationCacheSeconds } = configOf(this);
    return {
      CONTROL_TABLE: control.tableName,
      AUTHORIZATION_CACHE_SECONDS: String(authorizationCacheSeconds),
    };
  }

  /** Whether somebody may still follow what their ticket was for. */
  private grantAdmit(grantee: PlatformFunction, control: ITable): void {
    grantItems(grantee, control, {
      actions: ['BatchGetItem'],
      partitions: [USER_PARTITIONS, SERVICE_ACCOUNT_PARTITIONS],
    });
  }

  private grantPost(grantee: PlatformFunction): void {
    const connections = Stack.of(this).formatArn({
      service: 'execute-api',
      resource: this.api.apiId,
      resourceName: `${STAGE}/POST/@connections/*`,
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    });
    grantee.addToRolePolicy(
      new PolicyStatement({ actions: PREFIXES.connections.actions.slice(), resources: [connections] }),
    );
    acknowledgeWide(grantee.role ?? grantee, connections, PREFIXES.connections.reason);
  }

  private grantFollowing(
    grantee: PlatformFunction,
    control: ITable,
    connections: Parameters<typeof grantItems>[2]['actions'],
    topics: Parameters<typeof grantItems>[2]['actions'],
  ): void {
    grantItems(grantee, control, { actions: connections, partitions: [CONNECTION_PARTITIONS] });
    grantItems(grantee, control, { actions: topics, partitions: [TOPIC_PARTITIONS] });
    // Whoever ends a connection takes it from the count of its holder.
    grantItems(grantee, control, { actions: ['UpdateItem'], partitions: [FOLLOWER_PARTITIONS] });
  }
}
