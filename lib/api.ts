import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
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
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type Domain, routes } from '../functions/routes.ts';
import { acknowledge } from './acknowledge.ts';
import { configOf } from './config.ts';
import type { PlatformFunction } from './platform-function.ts';

/** The HTTP API: one gateway route for each line of functions/routes.ts, answered by its domain's function. */
export class Api extends Construct {
  /** Where it answers; also who issues the platform's own tokens. */
  readonly url: string;
  private readonly api: HttpApi;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const { domain, logRetentionDays } = configOf(this);
    this.api = new HttpApi(this, 'Api', {
      apiName: `${Stack.of(this).stackName}-api`,
      description: 'The platform API.',
      createDefaultStage: false,
      disableExecuteApiEndpoint: domain !== undefined,
    });
    this.url = domain ? `https://${domain.name}` : this.api.apiEndpoint;

    const accessLog = new LogGroup(this, 'AccessLog', {
      logGroupName: `/aws/vendedlogs/apigateway/${Stack.of(this).stackName}-api`,
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      detailedMetricsEnabled: true,
      throttle: { rateLimit: 500, burstLimit: 1_000 },
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLog),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_FIELDS)),
      },
      ...(domain && {
        domainMapping: {
          domainName: new DomainName(this, 'Domain', {
            domainName: domain.name,
            certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
          }),
        },
      }),
    });
  }

  /** Connects every route to the function of its domain. */
  serve(functions: Record<Domain, PlatformFunction>): void {
    // One permission a function, not one a route: the gateway's own route table is the only way in.
    const integrations = Object.fromEntries(
      Object.entries(functions).map(([name, fn]) => [
        name,
        new HttpLambdaIntegration(name, fn, { scopePermissionToRoute: false }),
      ]),
    ) as Record<Domain, HttpLambdaIntegration>;

    for (const [line, { domain: owner, permission }] of Object.entries(routes)) {
      const [method = '', path = ''] = line.split(' ');
      const route = new HttpRoute(this, line, {
        httpApi: this.api,
        routeKey: HttpRouteKey.with(path, HttpMethod[method as keyof typeof HttpMethod]),
        integration: integrations[owner],
        authorizer: permission === 'iam' ? new HttpIamAuthorizer() : new HttpNoneAuthorizer(),
      });
      if (permission !== 'iam') acknowledge(route, 'AwsSolutions-APIG4', IN_THE_FUNCTION);
    }
  }
}

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
