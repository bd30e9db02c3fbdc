import { statSync } from 'node:fs';
import { parseScheduleExpression } from '../schedules/schedule-expression.ts';
import { bytes, count, type Limit } from './limit.ts';

const EXPRESSIONS = 'https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html';
const STATES = 'https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html';

const DEFINITION_BYTES_MAX = 1024 * 1024;

const expressions: Limit = {
  name: 'schedule expressions',
  source: EXPRESSIONS,
  check: (deployed) =>
    deployed.ofType('AWS::Scheduler::Schedule').flatMap(({ name, properties }) => {
      try {
        parseScheduleExpression(
          String(properties['ScheduleExpression']),
          properties['ScheduleExpressionTimezone'],
        );
        return [];
      } catch (error) {
        return [`${name}: ${(error as Error).message}`];
      }
    }),
};

const definitions: Limit = {
  name: 'size of a definition',
  source: STATES,
  check: (deployed) =>
    deployed.ofType('AWS::StepFunctions::StateMachine').flatMap(({ name, properties, assets }) => {
      const { Definition, DefinitionString, DefinitionS3Location } = properties;
      const file = assets.get(DefinitionS3Location?.Key);
      const size = file === undefined ? bytes(DefinitionString ?? Definition ?? '') : statSync(file).size;
      if (size <= DEFINITION_BYTES_MAX) return [];
      return [`${name}: its definition has ${count(size)} bytes; a state machine has at most 1 MB.`];
    }),
};

export const scheduleLimits = [expressions, definitions];
