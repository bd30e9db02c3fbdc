import { tables } from '../../functions/routes.ts';
import { ofType, type Resource, type Resources } from '../lib/synthesized.ts';
import type { Sweep } from './count-sweeps.ts';
import { HOURS_A_MONTH, type Line } from './line.ts';

/** Assumed: what a run with nothing to do takes, most of it to reach DynamoDB. */
const SWEEP_SECONDS = 0.2;
/** Lambda asks each queue five at a time, and each question waits for up to twenty seconds. */
const POLLS_AN_HOUR = 5 * 3 * 60;

const count = (resources: Resources, type: string): number => ofType(resources, type).length;

/** AWS charges for what an alarm reads, not for the alarm. */
const metricsOf = ({ Properties }: Resource): number =>
  (Properties.Metrics as unknown[] | undefined)?.length ?? 1;

/** What a deployment costs a month that nobody uses. */
export function idleLines(resources: Resources, sweeps: Sweep[]): Line[] {
  const alarms = ofType(resources, 'AWS::CloudWatch::Alarm').map(([, alarm]) => metricsOf(alarm));
  const queues = ofType(resources, 'AWS::Lambda::EventSourceMapping').filter(
    ([, { Properties }]) => !Properties.StartingPosition,
  );
  const [[, log] = []] = ofType(resources, 'AWS::Logs::LogGroup');
  const keptMonths = Number(log?.Properties.RetentionInDays) / 30;
  const over = (each: (sweep: Sweep) => number): number =>
    sweeps.reduce((sum, sweep) => sum + sweep.runs * each(sweep), 0);
  const runs = over(() => 1);
  const logGb = over(({ logBytes }) => logBytes) / 1e9;
  const scheduled = `${sweeps.length} scheduled functions`;
  return [
    { what: 'KMS keys', count: count(resources, 'AWS::KMS::Key'), price: 'key', why: 'the template' },
    {
      what: 'alarms',
      count: alarms.reduce((sum, each) => sum + each, 0),
      price: 'alarm',
      why: `the template: ${alarms.length} alarms`,
    },
    {
      what: 'questions to queues',
      count: queues.length * POLLS_AN_HOUR * HOURS_A_MONTH,
      price: 'sqs',
      why: `${queues.length} queues with a reader, ${POLLS_AN_HOUR} an hour`,
    },
    { what: 'schedules', count: runs, price: 'schedule', why: scheduled },
    { what: 'their invocations', count: runs, price: 'invocation', why: scheduled },
    {
      what: 'their time',
      count: over(({ memoryGb }) => memoryGb * SWEEP_SECONDS),
      price: 'gbSecond',
      why: `memory of the template, ${SWEEP_SECONDS} s assumed`,
    },
    {
      what: 'their reads',
      count: over(({ reads }) => reads),
      price: 'read',
      why: 'counted with nothing to do',
    },
    { what: 'their traces', count: runs, price: 'trace', why: 'each is traced: there are few' },
    { what: 'their log', count: logGb, price: 'logIngested', why: 'counted with nothing to do' },
    {
      what: 'the log that is kept',
      count: logGb * keptMonths,
      price: 'logKept',
      why: `for ${log?.Properties.RetentionInDays} days`,
    },
  ];
}

/** What comes once it is used, however much. */
export function fixedLines(resources: Resources, front: Resources): Line[] {
  const own = ofType(resources, 'AWS::CloudWatch::Alarm').filter(
    ([, { Properties }]) => Properties.Namespace === 'Gpuaas',
  );
  const [[, firewall] = []] = ofType(front, 'AWS::WAFv2::WebACL');
  return [
    {
      what: 'metrics of our own, at most',
      // Of requests, only failures have alarms. What no domain takes is counted as a domain of its own.
      count: own.length + 2 * (Object.keys(tables).length + 1),
      price: 'metric',
      why: 'three a domain, and those with alarms; only for hours with values',
    },
    { what: 'with a front: web ACL', count: firewall ? 1 : 0, price: 'firewall', why: 'the template' },
    {
      what: 'with a front: its rules',
      count: (firewall?.Properties.Rules as unknown[] | undefined)?.length ?? 0,
      price: 'firewallRule',
      why: 'the template',
    },
    {
      what: 'with a front: secret',
      count: count(front, 'AWS::SecretsManager::Secret'),
      price: 'secret',
      why: 'the template',
    },
  ];
}
