// The whole API on one page: each domain's routes, with who answers and who may call. The CDK app makes one gateway
// route of each line; the OpenAPI document, the authorization matrix and the audit test walk the same tables. Of
// the functions only functions/unrouted uses this: each other carries the routes of its own domain.

import { agentRoutes } from './agent/routes.ts';
import { allocationsRoutes } from './allocations/routes.ts';
import { artifactsRoutes } from './artifacts/routes.ts';
import { catalogRoutes } from './catalog/routes.ts';
import { docsRoutes } from './docs/routes.ts';
import { eventsRoutes } from './events/routes.ts';
import { identityRoutes } from './identity/routes.ts';
import { manifestsRoutes } from './manifests/routes.ts';
import { nodesRoutes } from './nodes/routes.ts';
import { publishingRoutes } from './publishing/routes.ts';
import { retentionRoutes } from './retention/routes.ts';
import { selftestRoutes } from './selftest/routes.ts';
import { tasksRoutes } from './tasks/routes.ts';
import type { Requirement, Table } from './platform/route.ts';

export const tables = {
  agent: agentRoutes,
  allocations: allocationsRoutes,
  artifacts: artifactsRoutes,
  catalog: catalogRoutes,
  docs: docsRoutes,
  events: eventsRoutes,
  identity: identityRoutes,
  manifests: manifestsRoutes,
  nodes: nodesRoutes,
  publishing: publishingRoutes,
  retention: retentionRoutes,
  selftest: selftestRoutes,
  tasks: tasksRoutes,
};

export type Tables = typeof tables;

export type Domain = keyof Tables;

export type RouteKey = { [D in Domain]: keyof Tables[D] }[Domain];

interface Route {
  domain: Domain;
  handler: string;
  permission: Requirement;
}

/** Every route with its domain. */
export const routes = gather(tables);

function gather(from: Record<Domain, Table>): Record<RouteKey, Route> {
  const all = Object.entries(from).flatMap(([domain, table]) =>
    Object.entries(table).map(([route, [handler, permission]]) => [route, { domain, handler, permission }]),
  );
  return Object.fromEntries(all) as Record<RouteKey, Route>;
}
