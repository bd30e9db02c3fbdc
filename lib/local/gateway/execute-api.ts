import { AwsError, type Access, type AwsRequest, type AwsResponse, type Service } from '../wire/aws.ts';
import { executeApiArn, type Apis } from './apis.ts';
import type { HttpGateway } from './http-gateway.ts';
import type { SocketGateway } from './socket-gateway.ts';

interface ConnectionCall {
  apiId: string;
  stage: string;
  connectionId: string;
}

/** Requests signed for `execute-api`: calls of IAM-protected routes, and messages to WebSocket connections. */
export function createExecuteApiService(apis: Apis, http: HttpGateway, sockets: SocketGateway): Service {
  return {
    scope: 'execute-api',
    protocol: 'rest-json',
    access(request: AwsRequest): Access[] {
      const call = connectionCall(apis, request.path);
      if (call === undefined) return http.access(request);
      const resource = executeApiArn(
        call.apiId,
        call.stage,
        request.method,
        `/@connections/${call.connectionId}`,
      );
      return [{ action: 'execute-api:ManageConnections', resource }];
    },
    async handle(request: AwsRequest): Promise<AwsResponse> {
      const call = connectionCall(apis, request.path);
      if (call === undefined) return http.handle(request);
      const { apiId, connectionId } = call;
      switch (request.method) {
        case 'POST':
          sockets.post(apiId, connectionId, request.body);
          return { status: 200 };
        case 'GET':
          return {
            status: 200,
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(sockets.describe(apiId, connectionId)),
          };
        case 'DELETE':
          sockets.disconnect(apiId, connectionId);
          return { status: 204 };
        default:
          return { status: 405 };
      }
    },
  };
}

function connectionCall(apis: Apis, path: string): ConnectionCall | undefined {
  const match = /^\/_apis\/([^/]+)\/([^/]+)\/(?:@|%40)connections\/([^/]+)$/.exec(path);
  const [, apiId, stage, connectionId] = match ?? [];
  if (apiId === undefined || stage === undefined || connectionId === undefined) return undefined;
  const api = apis.get(apiId);
  if (api?.protocol !== 'WEBSOCKET' || api.stage !== stage) return undefined;
  return { apiId, stage, connectionId: decode(connectionId) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AwsError('BadRequestException', 'The connection id is not percent-encoded correctly.');
  }
}
