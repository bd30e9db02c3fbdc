import { randomUUID } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import { WebSocket } from 'ws';
import { REGION, type PolicyStatement } from '../../../lib/local/wire/aws.ts';
import { openFrontDoor, type FrontDoor } from '../../../lib/local/iam/front-door.ts';
import { Apis, type ApiSpec, type RouteSpec } from '../../../lib/local/gateway/apis.ts';
import { createExecuteApiService } from '../../../lib/local/gateway/execute-api.ts';
import { HttpGateway } from '../../../lib/local/gateway/http-gateway.ts';
import { Integration } from '../../../lib/local/gateway/integration.ts';
import { SocketGateway } from '../../../lib/local/gateway/socket-gateway.ts';
import { Iam } from '../../../lib/local/iam/iam.ts';
import type { Functions, FunctionSpec } from '../../../lib/local/lambda/functions.ts';
import type { AwsCredentials } from '../../../lib/local/iam/principals.ts';
import { until } from '../../until.ts';
import { LambdaWorld, recorder, roleArn, type Recorder } from '../lambda/lambda-world.ts';
import { Sha256 } from '../services/sign-request.ts';

/** Real functions behind real gateways behind a real front door. Each route has a recorder of its own. */
export class GatewayWorld extends LambdaWorld {
  readonly iam = new Iam();
  readonly hosted: Functions = this.functions();
  readonly apis = new Apis();
  readonly sockets: SocketGateway;
  #http: HttpGateway;
  #specs = new Map<string, ApiSpec>();
  #frontDoor: FrontDoor | undefined;

  constructor() {
    super();
    const integration = new Integration(this.hosted, this.iam);
    this.#http = new HttpGateway(this.apis, integration);
    this.sockets = new SocketGateway(this.apis, integration);
  }

  async open(): Promise<this> {
    this.#frontDoor = await openFrontDoor({
      port: 0,
      principals: this.principals,
      iam: this.iam,
      services: [createExecuteApiService(this.apis, this.#http, this.sockets)],
      fallback: (request, response) => this.#http.serve(request, response),
      upgrade: (request, socket, head) => this.sockets.upgrade(request, socket, head),
    });
    this.endpoint = this.#frontDoor.url;
    return this;
  }

  override async close(): Promise<void> {
    await this.sockets.close();
    await this.#frontDoor?.close();
    await super.close();
  }

  /** The first HTTP API stands at the root. */
  api(spec: Pick<ApiSpec, 'id' | 'protocol' | 'cors'>): void {
    const isHttp = spec.protocol === 'HTTP';
    this.#specs.set(spec.id, {
      ...spec,
      stage: isHttp ? '$default' : 'live',
      routes: [],
      ...(!isHttp && { routeSelection: '$request.body.action' }),
    });
    this.apis.replace([...this.#specs.values()]);
  }

  /** A route, the function that answers it, and the permission that lets the gateway invoke it. */
  route(
    apiId: string,
    key: string,
    options: {
      answer?: unknown;
      auth?: RouteSpec['auth'];
      environment?: Record<string, string>;
      spec?: Partial<FunctionSpec>;
      isPermitted?: boolean;
    } = {},
  ): Recorder {
    const { answer, auth = 'NONE', environment = {}, spec, isPermitted = true } = options;
    const name = `f-${randomUUID()}`;
    const made = recorder(
      this,
      name,
      { ...environment, ...(answer !== undefined && { ANSWER: JSON.stringify(answer) }) },
      spec,
    );
    this.hosted.put(made.spec);
    if (isPermitted) this.#permit(made.spec.arn, apiId);
    const api = this.#specs.get(apiId);
    if (api === undefined) throw new Error(`There is no API ${apiId}.`);
    api.routes.push({ key, auth, functionArn: made.spec.arn });
    return made;
  }

  /** A signed request of a role that may do this and nothing else. */
  async signedFetch(
    path: string,
    allowed: PolicyStatement[],
    init: { method?: string; body?: string; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const { method = 'GET', body, headers = {} } = init;
    const [pathname = '', search = ''] = path.split('?');
    const signer = new SignatureV4({
      service: 'execute-api',
      region: REGION,
      credentials: this.as(allowed).credentials,
      sha256: Sha256,
    });
    const { host, hostname } = new URL(this.endpoint);
    const { headers: signed } = await signer.sign({
      method,
      path: pathname,
      query: Object.fromEntries(new URLSearchParams(search)),
      protocol: 'http:',
      hostname,
      headers: { ...headers, host },
      body,
    });
    const { host: _, ...rest } = signed;
    return fetch(this.endpoint + path, { method, headers: rest, body });
  }

  /** Settings for an SDK client of a role that may do this and nothing else. */
  as(allowed: PolicyStatement[]): { region: string; credentials: AwsCredentials; maxAttempts: number } {
    const arn = roleArn(`caller-${randomUUID()}`);
    this.iam.putRole({
      arn,
      trust: { Statement: [] },
      policies: [{ Version: '2012-10-17', Statement: allowed }],
    });
    return { region: REGION, credentials: this.principals.session(arn, 'caller'), maxAttempts: 1 };
  }

  /** Opens a WebSocket, or tells the status with which it was refused. */
  async connect(path: string, options: { protocols?: string[] } = {}): Promise<Client | { refused: number }> {
    const socket = new WebSocket(this.endpoint.replace(/^http/, 'ws') + path, options.protocols ?? []);
    const client = new Client(socket);
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve(client));
      socket.once('unexpected-response', (_request, response) => {
        resolve({ refused: response.statusCode ?? 0 });
        socket.once('error', () => undefined).terminate();
      });
      socket.once('error', reject);
    });
  }

  #permit(functionArn: string, apiId: string): void {
    this.iam.putResourcePolicy(functionArn, {
      Version: '2012-10-17',
      Statement: {
        Effect: 'Allow',
        Principal: { Service: 'apigateway.amazonaws.com' },
        Action: 'lambda:InvokeFunction',
        Resource: functionArn,
        Condition: {
          ArnLike: { 'aws:SourceArn': `arn:aws:execute-api:${REGION}:000000000000:${apiId}/*/*` },
        },
      },
    });
  }
}

export class Client {
  readonly socket: WebSocket;
  readonly received: string[] = [];
  closed: { code: number; reason: string } | undefined;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => this.received.push(data.toString('utf8')));
    socket.on('close', (code, reason) => (this.closed = { code, reason: reason.toString('utf8') }));
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** The next message nobody has taken yet. */
  next(): Promise<string> {
    return until(() => this.received.shift());
  }

  ended(): Promise<{ code: number; reason: string }> {
    return until(() => this.closed);
  }
}
