import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  CorsHttpMethod,
  type CorsPreflightOptions,
  DomainName,
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  HttpRoute,
  HttpRouteKey,
  HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, LogGroup } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { Variable } from '../functions/platform/environment.ts';
import type { Table } from '../functions/platform/route.ts';
import { type Domain, tables } from '../functions/routes.ts';
import { acknowledge } from './acknowledge.ts';
import { configOf } from './config.ts';
import type { PlatformFunction } from './platform-function.ts';

/**
 * The HTTP API: one gateway route for each line of the tables in functions/routes.ts, answered by its domain's function,
 * and one for everything else.
 */
export class Api extends Construct {
  /** Where it answers; also who issues the platform's own tokens. */
  readonly url: string;
  readonly id: string;
  /** By which functions know that a request came through the front. */
  readonly frontSecret: string | undefined;
  /** How many requests the gateway itself refused with 429: a function's own 429 has an integration latency. */
  readonly throttled: Metric;
  private readonly api: HttpApi;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const { domain, front, consoleOrigin, logRetentionDays } = configOf(this);
    // Behind a front, the name is the front's.
    const ownDomain = front ? undefined : domain;
    this.api = new HttpApi(this, 'Api', {
      apiName: `${Stack.of(this).stackName}-api`,
      description: 'The platform API.',
      createDefaultStage: false,
      disableExecuteApiEndpoint: ownDomain !== undefined,
      ...(consoleOrigin && { corsPreflight: corsFor(consoleOrigin) }),
    });
    this.id = this.api.apiId;
    this.url = domain ? `https://${domain.name}` : this.api.apiEndpoint;

    const accessLog = new LogGroup(this, 'AccessLog', {
      logGroupName: `/aws/vendedlogs/apigateway/${Stack.of(this).stackName}-api`,
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.throttled = accessLog
      .addMetricFilter('Throttled', {
        filterPattern: FilterPattern.all(
          FilterPattern.stringValue('$.status', '=', '429'),
          FilterPattern.stringValue('$.integration_latency_ms', '=', '-'),
        ),
        metricNamespace: 'Gpuaas',
        metricName: 'gateway_throttled',
      })
      .metric({ statistic: 'Sum' });
    new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      detailedMetricsEnabled: false,
      throttle: { rateLimit: 500, burstLimit: 1_000 },
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLog),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_FIELDS)),
      },
      ...(ownDomain && {
        domainMapping: {
          domainName: new DomainName(this, 'Domain', {
            domainName: ownDomain.name,
            certificate: Certificate.fromCertificateArn(this, 'Certificate', ownDomain.certificateArn),
          }),
        },
      }),
    });
    this.frontSecret = front ? this.secretOfFront() : undefined;
  }

  /** Connects the routes of a domain to its function, in the stack of that function. */
  serve(domain: Domain, fn: PlatformFunction): void {
    const scope = new Construct(fn, 'Routes');
    if (this.frontSecret) fn.addEnvironment('FRONT_SECRET' satisfies Variable, this.frontSecret);
    // One permission a function, not one a route: the gateway's own route table is the only way in.
    const integration = new HttpLambdaIntegration(domain, fn, { scopePermissionToRoute: false });
    for (const [line, [, permission]] of Object.entries<Table[keyof Table]>(tables[domain])) {
      const [method = '', path = ''] = line.split(' ');
      const route = new HttpRoute(scope, line, {
        httpApi: this.api,
        routeKey: HttpRouteKey.with(path, HttpMethod[method as keyof typeof HttpMethod]),
        integration,
        authorizer: permission === 'iam' ? new HttpIamAuthorizer() : new HttpNoneAuthorizer(),
      });
      if (permission !== 'iam') acknowledge(route, 'AwsSolutions-APIG4', IN_THE_FUNCTION);
    }
  }

  /** Connects what has no route: the gateway would answer it in its own way. */
  serveUnrouted(fn: PlatformFunction): void {
    if (this.frontSecret) fn.addEnvironment('FRONT_SECRET' satisfies Variable, this.frontSecret);
    const route = new HttpRoute(fn, 'Route', {
      httpApi: this.api,
      routeKey: HttpRouteKey.DEFAULT,
      // The permission of the others is for routes that have a path.
      integration: new HttpLambdaIntegration('unrouted', fn, { scopePermissionToRoute: true }),
      authorizer: new HttpNoneAuthorizer(),
    });
    acknowledge(
      route,
      'AwsSolutions-APIG4',
      'It tells anybody that there is no such route, and nothing else.',
    );
  }

  private secretOfFront(): string {
    const secret = new Secret(this, 'FrontSecret', {
      description: 'What the front shows to the functions.',
      generateSecretString: { excludePunctuation: true, passwordLength: 40 },
    });
    acknowledge(
      secret,
      'AwsSolutions-SMG4',
      'It protects nothing but the address a request is said to come from. Front and functions would have to change it in the same moment.',
    );
    return secret.secretValue.unsafeUnwrap();
  }
}

/** What a browser may send from the console, and what the console may read of the answer. */
const corsFor = (origin: string): CorsPreflightOptions => ({
  allowOrigins: [origin],
  allowMethods: [
    CorsHttpMethod.GET,
    CorsHttpMethod.POST,
    CorsHttpMethod.PUT,
    CorsHttpMethod.PATCH,
    CorsHttpMethod.DELETE,
  ],
  allowHeaders: [
    'authorization',
    'content-type',
    'idempotency-key',
    'if-match',
    'traceparent',
    'x-idempotency-key',
    'x-request-id',
  ],
  exposeHeaders: ['etag', 'location', 'ratelimit', 'ratelimit-policy', 'retry-after', 'x-request-id'],
  maxAge: Duration.hours(1),
});

const IN_THE_FUNCTION =
  'The kernel verifies tokens and checks permissions in the function, in the same way for every route: the answer is then a problem document and does not reveal whether a resource exists. Open routes are marked public in functions/routes.ts.';

// No header, query or body: they may carry what must not be kept.
const ACCESS_LOG_FIELDS = {
  request_id: '$context.requestId',
  time: '$context.requestTimeEpoch',
  source_ip: '$context.identity.sourceIp',
  route: '$context.routeKey',
  status: '$context.status',
  response_bytes: '$context.responseLength',
  latency_ms: '$context.responseLatency',
  integration_latency_ms: '$context.integrationLatency',
  integration_error: '$context.integrationErrorMessage',
};
