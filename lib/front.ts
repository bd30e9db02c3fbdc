import { Aws, Duration } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  OriginSslPolicy,
  PriceClass,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { Api } from './api.ts';
import type { Config } from './config.ts';
import type { Socket } from './socket.ts';

export interface FrontProps {
  api: Api;
  socket: Socket;
  domain: NonNullable<Config['domain']>;
  firewallArn: string;
}

// The gateway sees the address of the front; this is how functions learn whose request it is.
const TELL_VIEWER = `function handler(event) {
  event.request.headers['x-viewer-address'] = { value: event.viewer.ip };
  return event.request;
}`;

/** What stands between the internet and the gateways: one host name for API and sockets, behind the firewall. */
export class Front extends Construct {
  constructor(scope: Construct, id: string, { api, socket, domain, firewallArn }: FrontProps) {
    super(scope, id);
    const tellViewer = new EdgeFunction(this, 'TellViewer', {
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(TELL_VIEWER),
    });
    const passOn = (apiId: string): BehaviorOptions => ({
      origin: new HttpOrigin(`${apiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}`, {
        protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
        originSslProtocols: [OriginSslPolicy.TLS_V1_2],
        readTimeout: Duration.seconds(30),
        customHeaders: { 'x-front-secret': api.frontSecret ?? '' },
      }),
      allowedMethods: AllowedMethods.ALLOW_ALL,
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      // The gateway answers only to its own host name.
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      functionAssociations: [{ eventType: FunctionEventType.VIEWER_REQUEST, function: tellViewer }],
    });
    const distribution = new Distribution(this, 'Distribution', {
      comment: 'The address of the platform.',
      domainNames: [domain.name],
      certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      httpVersion: HttpVersion.HTTP2_AND_3,
      priceClass: PriceClass.PRICE_CLASS_100,
      webAclId: firewallArn,
      defaultBehavior: passOn(api.id),
      additionalBehaviors: { [`/${socket.stageName}`]: passOn(socket.id) },
    });
    acknowledge(distribution, 'AwsSolutions-CFR1', 'The platform is meant for callers in every country.');
    acknowledge(
      distribution,
      'AwsSolutions-CFR3',
      'The gateway behind it logs every request that gets there; what the firewall refuses is counted by its metrics.',
    );
    this.host = distribution.distributionDomainName;
  }

  /** Where the name of the platform has to point, in DNS. */
  readonly host: string;
}
