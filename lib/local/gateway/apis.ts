import { ACCOUNT, REGION } from '../wire/aws.ts';

export interface RouteSpec {
  /** `GET /things/{id}`, `$connect`, `$default` … */
  key: string;
  functionArn: string;
  auth: 'NONE' | 'AWS_IAM';
}

export interface CorsSpec {
  allowOrigins: string[];
  allowMethods: string[];
  allowHeaders: string[];
  exposeHeaders: string[];
  allowCredentials: boolean;
  maxAgeSeconds?: number;
}

export interface ApiSpec {
  id: string;
  protocol: 'HTTP' | 'WEBSOCKET';
  stage: string;
  routes: RouteSpec[];
  /** Of a WebSocket API: `$request.body.<key>`. */
  routeSelection?: string;
  cors?: CorsSpec;
}

/**
 * The APIs of the template. On AWS each has a host name of its own; here the first HTTP API stands at the root
 * of the front door, every other API below `/_apis/<id>`.
 */
export class Apis {
  #apis: ApiSpec[] = [];

  replace(apis: ApiSpec[]): void {
    this.#apis = apis;
  }

  get(id: string): ApiSpec | undefined {
    return this.#apis.find((api) => api.id === id);
  }

  find(protocol: ApiSpec['protocol']): ApiSpec | undefined {
    return this.#apis.find((api) => api.protocol === protocol);
  }

  /** The API a path belongs to, and the rest of the path as that API sees it. */
  locate(path: string): { api: ApiSpec; path: string } | undefined {
    const match = /^\/_apis\/([^/]+)(\/.*)?$/.exec(path);
    if (match !== null) {
      const api = this.get(match[1] ?? '');
      return api && { api, path: match[2] ?? '/' };
    }
    const root = this.find('HTTP');
    return root && { api: root, path };
  }
}

export function executeApiArn(apiId: string, stage: string, method: string, path: string): string {
  return `arn:aws:execute-api:${REGION}:${ACCOUNT}:${apiId}/${stage}/${method}${path}`;
}
