// One client a service and process, built when first needed: a function pays at cold start only for what it
// calls, and a bundle holds only the clients its code names.

import { ApiGatewayManagementApiClient } from '@aws-sdk/client-apigatewaymanagementapi';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ECRClient } from '@aws-sdk/client-ecr';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { KMSClient } from '@aws-sdk/client-kms';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import { type Credentials, STSClient } from '@aws-sdk/client-sts';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { environment } from './environment.ts';

// Short enough that a caller gets its 503 while it still listens, instead of the function timing out.
const PATIENCE = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 500, requestTimeout: 2_000, throwOnRequestTimeout: true },
};

let dynamoClient: DynamoDBDocumentClient | undefined;
let ecrClient: ECRClient | undefined;
let eventBridgeClient: EventBridgeClient | undefined;
let kmsClient: KMSClient | undefined;
let sfnClient: SFNClient | undefined;
let sqsClient: SQSClient | undefined;
let stsClient: STSClient | undefined;
let socketClient: ApiGatewayManagementApiClient | undefined;

export function dynamo(): DynamoDBDocumentClient {
  dynamoClient ??= DynamoDBDocumentClient.from(new DynamoDBClient(PATIENCE), {
    marshallOptions: { removeUndefinedValues: true },
  });
  return dynamoClient;
}

export function ecr(): ECRClient {
  ecrClient ??= new ECRClient(PATIENCE);
  return ecrClient;
}

/** As a session that was just assumed; it is used once. */
export function ecrAs({ AccessKeyId = '', SecretAccessKey = '', SessionToken }: Credentials): ECRClient {
  const credentials = {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    sessionToken: SessionToken,
  };
  return new ECRClient({ ...PATIENCE, credentials });
}

export function eventBridge(): EventBridgeClient {
  eventBridgeClient ??= new EventBridgeClient(PATIENCE);
  return eventBridgeClient;
}

export function kms(): KMSClient {
  kmsClient ??= new KMSClient(PATIENCE);
  return kmsClient;
}

export function stepFunctions(): SFNClient {
  sfnClient ??= new SFNClient(PATIENCE);
  return sfnClient;
}

export function sqs(): SQSClient {
  sqsClient ??= new SQSClient(PATIENCE);
  return sqsClient;
}

export function sts(): STSClient {
  stsClient ??= new STSClient(PATIENCE);
  return stsClient;
}

/** Posts to open WebSocket connections; its endpoint is the socket's own address, spoken to over HTTP. */
export function socketPosts(): ApiGatewayManagementApiClient {
  socketClient ??= new ApiGatewayManagementApiClient({
    ...PATIENCE,
    endpoint: environment('SOCKET_URL').replace(/^ws/, 'http'),
  });
  return socketClient;
}
