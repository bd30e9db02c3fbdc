import { agentEndpoints } from '../functions/agent/endpoints.ts';
import { allocationsEndpoints } from '../functions/allocations/endpoints.ts';
import { artifactsEndpoints } from '../functions/artifacts/endpoints.ts';
import { catalogEndpoints } from '../functions/catalog/endpoints.ts';
import { eventsEndpoints } from '../functions/events/endpoints.ts';
import { docsEndpoints } from '../functions/docs/endpoints.ts';
import { identityEndpoints } from '../functions/identity/endpoints.ts';
import { nodesEndpoints } from '../functions/nodes/endpoints.ts';
import type { Endpoint } from '../functions/platform/http/endpoint.ts';
import { type Domain, type RouteKey, type Tables, routes } from '../functions/routes.ts';
import { type HandlerName } from '../functions/platform/route.ts';
import { manifestsEndpoints } from '../functions/manifests/endpoints.ts';
import { publishingEndpoints } from '../functions/publishing/endpoints.ts';
import { retentionEndpoints } from '../functions/retention/endpoints.ts';
import { selftestEndpoints } from '../functions/selftest/endpoints.ts';
import { tasksEndpoints } from '../functions/tasks/endpoints.ts';

export type EndpointsByDomain = { [D in Domain]: Record<HandlerName<Tables[D]>, Endpoint> };

/** Who answers each route: the functions serve these, the document is made of what they say about themselves. */
const endpoints: EndpointsByDomain = {
  agent: agentEndpoints,
  allocations: allocationsEndpoints,
  artifacts: artifactsEndpoints,
  catalog: catalogEndpoints,
  docs: docsEndpoints,
  events: eventsEndpoints,
  identity: identityEndpoints,
  manifests: manifestsEndpoints,
  nodes: nodesEndpoints,
  publishing: publishingEndpoints,
  retention: retentionEndpoints,
  selftest: selftestEndpoints,
  tasks: tasksEndpoints,
};

export interface RouteInFull {
  route: RouteKey;
  method: string;
  path: string;
  domain: Domain;
  handler: string;
  permission: (typeof routes)[RouteKey]['permission'];
  endpoint: Endpoint;
}

/** Every route with its endpoint, in the order of the table. */
export function routesInFull(from: EndpointsByDomain = endpoints): RouteInFull[] {
  return (Object.keys(routes) as RouteKey[]).map((route) => {
    const { domain, handler, permission } = routes[route];
    const [method = '', path = ''] = route.split(' ');
    const endpoint = (from[domain] as Record<string, Endpoint>)[handler];
    if (!endpoint)
      throw new Error(`functions/${domain}/endpoints.ts has no handler ${handler} for ${route}.`);
    return { route, method, path, domain, handler, permission, endpoint };
  });
}
