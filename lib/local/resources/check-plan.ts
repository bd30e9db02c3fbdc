import type { ApiSpec } from '../gateway/apis.ts';
import { Iam } from '../iam/iam.ts';
import { functionName } from '../lambda/functions.ts';
import { checkMapping } from '../mappings/mappings.ts';
import type { Plan, PlannedApi } from './plan.ts';
import { checkSchedule } from '../schedules/schedules.ts';
import { checkDefinition } from '../step-functions/definition.ts';

/** Everything that could go wrong while a plan takes effect goes wrong here. Returns the APIs it declares. */
export function checkPlan(plan: Plan): ApiSpec[] {
  checkRoles(plan);
  for (const { name, definition } of plan.machines) checkDefinition(name, definition);
  for (const mapping of plan.mappings) {
    checkMapping(mapping);
    checkFunction(plan, mapping.functionArn, `The event source mapping ${mapping.id}`);
  }
  for (const schedule of plan.schedules) checkSchedule(schedule);
  return plan.apis.map((api) => served(plan, api));
}

export function putPolicies(plan: Plan, iam: Iam): void {
  for (const role of plan.roles.values()) iam.putRole(role);
  for (const [arn, statements] of plan.resourcePolicies)
    iam.putResourcePolicy(arn, { Version: '2012-10-17', Statement: statements });
}

function checkRoles(plan: Plan): void {
  // On a copy: the policies in force stay until all the rest is known to be sound.
  const iam = new Iam();
  putPolicies(plan, iam);
  for (const { name, roleArn } of plan.functions.values()) {
    if (!plan.roles.has(roleArn))
      throw new Error(`The function ${name} runs as ${roleArn}, which is not a role of this template.`);
    if (!iam.trusts(roleArn, 'lambda.amazonaws.com'))
      throw new Error(`The role of the function ${name} does not trust lambda.amazonaws.com.`);
  }
}

function served(plan: Plan, api: PlannedApi): ApiSpec {
  const stage = plan.stages.get(api.id);
  if (stage === undefined) throw new Error(`The API ${api.id} has no stage, so nothing could call it.`);
  if (api.protocol === 'HTTP' && stage !== '$default')
    throw new Error(`The HTTP API ${api.id} has the stage ${stage}; the local gateway serves $default.`);
  if (api.protocol === 'WEBSOCKET' && !/^\$request\.body\.\w+$/.test(api.routeSelection ?? ''))
    throw new Error(
      `The WebSocket API ${api.id} selects routes by ${api.routeSelection}; the local gateway reads $request.body.<key>.`,
    );
  const routes = plan.routes.filter((route) => route.apiId === api.id);
  return {
    ...api,
    stage,
    routes: routes.map(({ key, target, auth }) => {
      const functionArn = plan.integrations.get(target);
      if (functionArn === undefined)
        throw new Error(
          `The route ${key} points at the integration ${target}, which is not in the template.`,
        );
      if (api.protocol === 'WEBSOCKET' && auth !== 'NONE')
        throw new Error(
          `The route ${key} is authorized by ${auth}; the local gateway cannot verify who opens a WebSocket.`,
        );
      checkFunction(plan, functionArn, `The route ${key}`);
      return { key, auth, functionArn };
    }),
  };
}

function checkFunction(plan: Plan, functionArn: string, who: string): void {
  if (plan.functions.has(functionName(functionArn))) return;
  throw new Error(`${who} invokes ${functionArn}, which is not a function of this template.`);
}
