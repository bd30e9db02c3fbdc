import { afterAll, beforeAll, expect, test } from 'vitest';
import { createContext } from '../../functions/platform/context.ts';
import { newId } from '../../functions/platform/ids.ts';
import { startExecution } from '../../functions/platform/workflow/workflow.ts';
import { openStepFunctionsWorld } from '../local/step-functions/step-functions-world.ts';

let world: Awaited<ReturnType<typeof openStepFunctionsWorld>>;
let machineArn: string;
const ctx = createContext('look-1', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`);

beforeAll(async () => {
  world = await openStepFunctionsWorld();
  machineArn = world.put({ StartAt: 'End', States: { End: { Type: 'Pass', End: true } } }, { name: 'echo' });
  const { accessKeyId, secretAccessKey } = world.principals.operator();
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_SFN: world.endpoint,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  });
});

afterAll(() => world.close());

const executionArn = (id: string) => `${machineArn.replace(':stateMachine:', ':execution:')}:${id}`;

test('an execution is started once, however often, under the ids of whoever asked', async () => {
  const id = newId();
  await startExecution(ctx, machineArn, id, { thing: 1 });
  await startExecution(createContext('look-1'), machineArn, id, { thing: 1 });
  const { output } = await world.end(executionArn(id));
  expect(JSON.parse(output ?? '')).toEqual({
    thing: 1,
    correlation_id: 'look-1',
    traceparent: ctx.traceparent,
  });
});

test('one that cannot be started fails', async () => {
  const unknown = `${machineArn}-of-nobody`;
  await expect(startExecution(ctx, unknown, newId(), {})).rejects.toMatchObject({
    name: 'StateMachineDoesNotExist',
  });
});
