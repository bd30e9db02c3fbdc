import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { runSelftest, type SelftestOutcome } from '../../bin/selftest/run-selftest.ts';
import type { Template, TemplateResource } from '../../lib/local/template/template.ts';
import { DEEP } from '../deep.ts';
import { startCopy, type PlatformCopy } from '../e2e/platform-copy.ts';
import { readCredentials } from '../e2e/signed-fetch.ts';
import { until } from '../until.ts';

interface Statement {
  Action: string | string[];
  Resource: unknown;
  Condition?: unknown;
}

interface Grant {
  stack: string;
  policy: string;
  index: number;
  action: string;
}

const folder = mkdtempSync(join(tmpdir(), 'gpuaas-grants-'));
const whole = inject('assembly');
const assembly = join(folder, 'assembly');
let copy: PlatformCopy;
let provisioned = 0;

// Not missed by a run that goes well: rights only the cloud exercises, or that are used when something goes wrong.
const NOT_ON_THE_PATH =
  /^(logs|xray):|ListStreams|DescribeStream|ChangeMessageVisibility|GetQueueAttributes|SendTaskFailure|DeleteItem|DeleteMessage/;
const IN_THE_RUN = /^(Relay|Selftest|Socket)/;
const NOT_IN_THE_RUN = /Sweep|Disconnect|RelayAgain/;
/** Each by policy, action and what it is about. */
const ONLY_ON_FAILURE = [
  /sqs:SendMessage .*(Failures|RelayAgain)/,
  // Whoever follows the run may follow everything, the bus missed nothing, and the self-test waits for neither.
  /^Relay.* (dynamodb:BatchGetItem .*USER#|dynamodb:Query .*FEED#|events:PutEvents)/,
  // Written when the domain was told.
  /^RelayDispatch.* dynamodb:BatchWriteItem/,
  // A run that ends well is not ended by these.
  /^Selftest(Answer|Reactions).* dynamodb:PutItem/,
  // The kernel's: the test calls with AWS credentials, once, and needs neither facts nor an earlier receipt.
  /^SelftestApi.* (dynamodb:BatchGetItem|dynamodb:GetItem .*RECEIPT#)/,
];
// A poll that was under way when the grant went still brings one message.
const TOO_LATE = /sqs:ReceiveMessage/;

const read = (stack: string): Template =>
  JSON.parse(readFileSync(join(whole, `${stack}.template.json`), 'utf8')) as Template;

function grants(): Grant[] {
  const all = ['GpuaasCore', 'GpuaasSelftest']
    .flatMap((stack) =>
      Object.entries(read(stack).Resources ?? {}).map(([id, resource]) => ({ stack, id, resource })),
    )
    .filter(
      ({ id, resource: { Type } }) =>
        Type === 'AWS::IAM::Policy' && IN_THE_RUN.test(id) && !NOT_IN_THE_RUN.test(id),
    )
    .flatMap(({ stack, id: policy, resource }) =>
      statements(resource).flatMap((statement, index) => {
        const about = JSON.stringify(statement.Condition ?? statement.Resource);
        return [statement.Action].flat().map((action) => ({ stack, policy, index, action, about }));
      }),
    )
    .filter(({ action }) => !NOT_ON_THE_PATH.test(action) && !TOO_LATE.test(action))
    .filter(
      ({ policy, action, about }) =>
        !ONLY_ON_FAILURE.some((rule) => rule.test(`${policy} ${action} ${about}`)),
    );
  // The last of each role is a grant of its own work, not the ones every consumer has.
  return DEEP ? all : all.filter(({ policy }, index) => all[index + 1]?.policy !== policy);
}

function statements(resource: TemplateResource): Statement[] {
  const { PolicyDocument } = (resource.Properties ?? {}) as { PolicyDocument: { Statement: Statement[] } };
  return PolicyDocument.Statement;
}

/** The template of a stack with one action taken out of one statement. */
function without({ stack, policy, index, action }: Grant): Template {
  const template = read(stack);
  const resource = template.Resources?.[policy];
  if (resource === undefined) throw new Error(`There is no policy ${policy}.`);
  const statement = statements(resource)[index] as Statement;
  const left = [statement.Action].flat().filter((each) => each !== action);
  if (left.length > 0) statement.Action = left;
  else statements(resource).splice(index, 1);
  return template;
}

async function apply(stack: string, template: Template): Promise<void> {
  writeFileSync(join(assembly, `${stack}.template.json`), JSON.stringify(template));
  provisioned += 1;
  await until(
    () => copy.output().split('applied the changed template').length > provisioned,
    'the change to be applied',
    60,
  );
}

beforeAll(async () => {
  cpSync(whole, assembly, { recursive: true });
  copy = await startCopy({ dataDir: join(folder, 'data'), assembly });
});

afterAll(async () => {
  await Promise.all(runs);
  await copy.stop();
  rmSync(folder, { recursive: true, force: true });
});

const runs: Promise<SelftestOutcome>[] = [];

const run = (timeoutSeconds: number): Promise<SelftestOutcome> => {
  const outcome = runSelftest({
    apiUrl: copy.ready.api_url,
    credentials: readCredentials(copy.ready),
    region: copy.ready.region,
    timeoutSeconds,
    onHop: () => undefined,
  });
  runs.push(outcome);
  return outcome;
};

describe('a grant taken out of the CDK app fails the self-test here', () => {
  test('with every grant the self-test passes', async () => {
    expect(await run(60)).toMatchObject({ passed: true });
  });

  test.each(grants())('without $action in $policy', async (grant) => {
    await apply(grant.stack, without(grant));
    const mark = copy.output().length;
    const running = run(8);
    let outcome: SelftestOutcome | undefined;
    void running.then((ended) => (outcome = ended));
    // Whoever may still write tells the person who asked; the engine tells in any case, by action and resource.
    const denied = new RegExp(`is not authorized to perform: ${grant.action} on resource: arn:aws:\\S+`);
    const said = () => JSON.stringify(outcome) + copy.output().slice(mark);
    // A slow machine comes to it after the run was given up.
    await until(() => denied.test(said()), `the lack of ${grant.action} to be told`, 60);
    // It only tries again from here on, and what is missing stays missing.
    if (DEEP) await running;
    expect(outcome?.passed ?? false).toBe(false);
    await apply(grant.stack, read(grant.stack));
  });
});
