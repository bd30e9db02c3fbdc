// The recipes of every domain, or of those a run is about: the tests over all routes walk these.

import { agentReads } from '../agent/serving/recipes.ts';
import { allocationsCommands, allocationsReads } from '../allocations/recipes.ts';
import { artifactsCommands, artifactsReads } from '../artifacts/recipes.ts';
import { catalogCommands, catalogReads } from '../catalog/recipes.ts';
import { identityCommands, identityReads } from '../identity/recipes.ts';
import { manifestCommands, manifestReads } from '../manifests/recipes.ts';
import { isAsked } from '../domains.ts';
import { nodesCommands, nodesReads, nodesReports } from '../nodes/recipes.ts';
import { tasksCommands, tasksReads, tasksReports } from '../tasks/recipes.ts';
import type { Command, ReadRoute, ReportRoute } from './recipe.ts';
import type { Scene } from './scene.ts';
import type { Call } from './world.ts';

const COMMANDS: Command[] = [
  ...identityCommands,
  ...catalogCommands,
  ...manifestCommands,
  ...artifactsCommands,
  ...allocationsCommands,
  ...nodesCommands,
  ...tasksCommands,
];

/** By name, as tests are called. */
export const commands = COMMANDS.filter(({ route }) => isAsked(route)).map(
  (each) => [each.how ? `${each.route}, ${each.how}` : each.route, each] as const,
);

const READS: Record<ReadRoute, (scene: Scene) => Promise<Call>> = {
  ...agentReads,
  ...identityReads,
  ...catalogReads,
  ...manifestReads,
  ...artifactsReads,
  ...allocationsReads,
  ...nodesReads,
  ...tasksReads,
};

export const reads = (Object.entries(READS) as [ReadRoute, (typeof READS)[ReadRoute]][]).filter(([route]) =>
  isAsked(route),
);

const REPORTS: Record<ReportRoute, (scene: Scene) => Promise<Call>> = {
  ...nodesReports,
  ...tasksReports,
};

export const reports = (Object.entries(REPORTS) as [ReportRoute, (typeof REPORTS)[ReportRoute]][]).filter(
  ([route]) => isAsked(route),
);
