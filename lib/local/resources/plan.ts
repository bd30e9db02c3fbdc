import type { PolicyDocument, PolicyStatement } from '../wire/aws.ts';
import type { CorsSpec, RouteSpec } from '../gateway/apis.ts';
import type { FunctionSpec } from '../lambda/functions.ts';
import type { MappingSpec } from '../mappings/mappings.ts';
import type { ScheduleSpec } from '../schedules/schedules.ts';
import type { MachineSpec } from '../step-functions/index.ts';

export interface PlannedApi {
  id: string;
  protocol: 'HTTP' | 'WEBSOCKET';
  routeSelection?: string;
  cors?: CorsSpec;
}

export interface PlannedRoute {
  apiId: string;
  key: string;
  target: string;
  auth: RouteSpec['auth'];
}

export type AsyncConfig = Pick<FunctionSpec, 'asyncRetriesMax' | 'asyncAgeSecondsMax' | 'asyncOnFailureArn'>;

/** Everything of a template that runs, gathered before any of it takes effect. */
export class Plan {
  roles = new Map<string, { arn: string; trust: PolicyDocument; policies: PolicyDocument[] }>();
  resourcePolicies = new Map<string, PolicyStatement[]>();
  functions = new Map<string, FunctionSpec>();
  asyncConfigs = new Map<string, AsyncConfig>();
  /** Table → the attribute by which its items expire. */
  expiries = new Map<string, string>();
  mappings: MappingSpec[] = [];
  machines: MachineSpec[] = [];
  schedules: ScheduleSpec[] = [];
  apis: PlannedApi[] = [];
  stages = new Map<string, string>();
  routes: PlannedRoute[] = [];
  integrations = new Map<string, string>();

  allowOn(resourceArn: string, statements: PolicyStatement[]): void {
    this.resourcePolicies.set(resourceArn, [
      ...(this.resourcePolicies.get(resourceArn) ?? []),
      ...statements,
    ]);
  }
}

export function statementsOf(document: PolicyDocument): PolicyStatement[] {
  return Array.isArray(document.Statement) ? document.Statement : [document.Statement];
}
