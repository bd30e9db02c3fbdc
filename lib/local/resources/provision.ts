import type { AssembledStack } from '../template/assembly.ts';
import { checkPlan, putPolicies } from './check-plan.ts';
import { checkLimits } from '../limits/check-limits.ts';
import type { Expiry } from '../schedules/expiry.ts';
import type { ApiSpec, Apis } from '../gateway/apis.ts';
import type { Iam } from '../iam/iam.ts';
import type { Functions } from '../lambda/functions.ts';
import type { Mappings } from '../mappings/mappings.ts';
import { identifyWith, kindOf, KINDS } from './index.ts';
import type { Makers } from './kind.ts';
import { Plan } from './plan.ts';
import type { Schedules } from '../schedules/schedules.ts';
import type { StepFunctions } from '../step-functions/index.ts';
import { Templates } from '../template/template.ts';

const API = 'AWS::ApiGatewayV2::Api';

/** The parts of the engine that run what a template declares. */
export interface Runners {
  iam: Iam;
  functions: Functions;
  mappings: Mappings;
  machines: StepFunctions;
  schedules: Schedules;
  apis: Apis;
  expiry: Expiry;
}

/**
 * Brings the engine to what the assembly says. May be called again with a changed assembly: what holds data is
 * kept and added to, what runs is replaced at once, so no request ever meets half a template. Whatever is wrong
 * with it is found before the first effect; then what ran before goes on.
 */
export async function provision(stacks: AssembledStack[], makers: Makers, runners: Runners): Promise<number> {
  // What may be reserved is a matter of the account: synthesis was told of it, this machine has no quota.
  checkLimits(stacks, { concurrencyQuota: Infinity });
  makers.world.rootApi = rootApi(stacks);
  const resources = new Templates(stacks, identifyWith(makers.world)).resources();
  const ordered = KINDS.map((kind) => ({
    kind,
    resources: resources.filter((resource) => kindOf(resource) === kind),
  }));
  for (const { kind, resources: ofKind } of ordered) {
    if (kind.create !== undefined)
      await Promise.all(ofKind.map(async (resource) => kind.create?.(resource, makers)));
  }
  const plan = new Plan();
  for (const { kind, resources: ofKind } of ordered)
    for (const resource of ofKind) kind.plan?.(resource, plan);
  takeEffect(plan, checkPlan(plan), runners);
  return resources.length;
}

/** The first HTTP API, which `Apis` puts at the root. */
function rootApi(stacks: AssembledStack[]): string | undefined {
  const names = stacks.flatMap(({ name, template }) =>
    Object.entries(template.Resources ?? {})
      .filter(([, { Type, Properties }]) => Type === API && Properties?.['ProtocolType'] === 'HTTP')
      .map(([logicalId]) => `${name}/${logicalId}`),
  );
  return names[0];
}

function takeEffect(plan: Plan, apis: ApiSpec[], runners: Runners): void {
  const { iam, functions, mappings, machines, schedules, expiry } = runners;
  iam.reset();
  putPolicies(plan, iam);

  for (const spec of plan.functions.values()) functions.put({ ...spec, ...plan.asyncConfigs.get(spec.name) });
  functions.keepOnly(new Set(plan.functions.keys()));

  for (const machine of plan.machines) machines.put(machine);
  machines.keepOnly(new Set(plan.machines.map((machine) => machine.arn)));

  runners.apis.replace(apis);

  for (const mapping of plan.mappings) mappings.put(mapping);
  mappings.keepOnly(new Set(plan.mappings.map((mapping) => mapping.id)));

  for (const schedule of plan.schedules) schedules.put(schedule);
  schedules.keepOnly(new Set(plan.schedules.map((schedule) => schedule.name)));

  expiry.replace(plan.expiries);
}
