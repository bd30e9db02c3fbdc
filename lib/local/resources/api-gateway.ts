import type { CorsSpec } from '../gateway/apis.ts';
import { fingerprint, type ResourceKind } from './kind.ts';

interface CorsProperties {
  AllowOrigins?: string[];
  AllowMethods?: string[];
  AllowHeaders?: string[];
  ExposeHeaders?: string[];
  AllowCredentials?: boolean;
  MaxAge?: number;
}

export const api: ResourceKind = {
  type: 'AWS::ApiGatewayV2::Api',
  honoured: ['ProtocolType', 'RouteSelectionExpression', 'CorsConfiguration'],
  ignored: ['Name', 'Description', 'DisableExecuteApiEndpoint', 'IpAddressType', 'Tags'],
  identify(resource, world) {
    const id = fingerprint(`${resource.stack}/${resource.logicalId}`).slice(0, 10);
    const socket = resource.properties['ProtocolType'] === 'WEBSOCKET';
    const isRoot = world.rootApi === `${resource.stack}/${resource.logicalId}`;
    const base = socket ? world.url.replace(/^http/, 'ws') : world.url;
    const endpoint = isRoot ? base : `${base}/_apis/${id}`;
    return { ref: id, attributes: { ApiId: id, ApiEndpoint: endpoint } };
  },
  plan({ properties, identity }, plan) {
    plan.apis.push({
      id: identity.ref,
      protocol: properties['ProtocolType'] as 'HTTP' | 'WEBSOCKET',
      routeSelection: properties['RouteSelectionExpression'] as string | undefined,
      cors: corsSpec(properties['CorsConfiguration'] as CorsProperties | undefined),
    });
  },
};

export const stage: ResourceKind = {
  type: 'AWS::ApiGatewayV2::Stage',
  honoured: ['ApiId', 'StageName', 'AutoDeploy'],
  ignored: ['AccessLogSettings', 'DefaultRouteSettings', 'RouteSettings', 'Description', 'Tags'],
  identify: (resource) => ({ ref: resource.properties['StageName'] as string }),
  plan({ properties, stack, logicalId }, plan) {
    if (properties['AutoDeploy'] !== true)
      throw new Error(
        `The stage ${stack}/${logicalId} is not deployed automatically, so none of its routes would be served.`,
      );
    const apiId = properties['ApiId'] as string;
    if (plan.stages.has(apiId))
      throw new Error(`${stack}/${logicalId} is a second stage of its API; the local gateway serves one.`);
    plan.stages.set(apiId, properties['StageName'] as string);
  },
};

export const integration: ResourceKind = {
  type: 'AWS::ApiGatewayV2::Integration',
  honoured: ['ApiId', 'IntegrationType', 'IntegrationUri', 'PayloadFormatVersion'],
  ignored: ['IntegrationMethod', 'Description'],
  identify: (resource) => ({ ref: fingerprint(`${resource.stack}/${resource.logicalId}`).slice(0, 7) }),
  plan({ properties, identity, stack, logicalId }, plan) {
    const uri = properties['IntegrationUri'] as string;
    const functionArn = /(arn:aws:lambda:[^/]+)/.exec(uri)?.[1];
    if (properties['IntegrationType'] !== 'AWS_PROXY' || functionArn === undefined) {
      throw new Error(
        `The integration ${stack}/${logicalId} is not with a Lambda function, which is all the local gateway can call.`,
      );
    }
    const payload = properties['PayloadFormatVersion'];
    if (payload !== undefined && payload !== '2.0')
      throw new Error(
        `The integration ${stack}/${logicalId} wants another payload format; the local gateway speaks 2.0.`,
      );
    plan.integrations.set(identity.ref, functionArn);
  },
};

export const route: ResourceKind = {
  type: 'AWS::ApiGatewayV2::Route',
  honoured: ['ApiId', 'RouteKey', 'Target', 'AuthorizationType'],
  ignored: ['OperationName'],
  identify: (resource) => ({ ref: fingerprint(`${resource.stack}/${resource.logicalId}`).slice(0, 7) }),
  plan({ properties, stack, logicalId }, plan) {
    const auth = (properties['AuthorizationType'] as string | undefined) ?? 'NONE';
    if (auth !== 'NONE' && auth !== 'AWS_IAM')
      throw new Error(
        `The route ${stack}/${logicalId} is authorized by ${auth}; the local gateway does NONE and AWS_IAM.`,
      );
    plan.routes.push({
      apiId: properties['ApiId'] as string,
      key: properties['RouteKey'] as string,
      target: (properties['Target'] as string).replace(/^integrations\//, ''),
      auth,
    });
  },
};

function corsSpec(cors: CorsProperties | undefined): CorsSpec | undefined {
  return (
    cors && {
      allowOrigins: cors.AllowOrigins ?? [],
      allowMethods: cors.AllowMethods ?? [],
      allowHeaders: cors.AllowHeaders ?? [],
      exposeHeaders: cors.ExposeHeaders ?? [],
      allowCredentials: cors.AllowCredentials ?? false,
      maxAgeSeconds: cors.MaxAge,
    }
  );
}
