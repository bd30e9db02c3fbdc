import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CfnRoute } from 'aws-cdk-lib/aws-apigatewayv2';
import { Stack, type App } from 'aws-cdk-lib';
import { afterAll, describe, expect, test } from 'vitest';
import { beyondLimits } from '../../lib/local/limits/check-limits.ts';
import { readAssembly } from '../../lib/local/template/assembly.ts';
import {
  ofType,
  readTemplates,
  synthesize,
  type Synthesized,
  synthesizedApp,
  synthesizeOnce,
} from './synthesized.ts';

/** CloudFormation takes 500. */
const RESOURCES_MAX = 300;

interface Manifest {
  artifacts: Record<
    string,
    { type: string; dependencies?: string[]; properties: { terminationProtection?: boolean } }
  >;
}

const manifestOf = (outdir: string): Manifest =>
  JSON.parse(readFileSync(join(outdir, 'manifest.json'), 'utf8')) as Manifest;

/** For every route two more of the same stack. */
function addRoutes(app: App): void {
  const routes = app.node.findAll().filter((each) => each instanceof CfnRoute);
  for (const route of routes) {
    const { apiId, routeKey, target, node } = route;
    for (const more of ['again', 'more'])
      new CfnRoute(Stack.of(route), `${node.addr}${more}`, {
        apiId,
        routeKey: `${routeKey}/${more}`,
        target,
      });
  }
}

describe('the stacks', () => {
  const { outdir } = synthesizedApp();
  const templates = readTemplates(outdir);

  test('are one for data, one for the core, one for each group of domains, the self-test and the alarms', () => {
    expect(Object.keys(templates).sort()).toEqual([
      'GpuaasAlarms',
      'GpuaasArtifacts',
      'GpuaasCatalog',
      'GpuaasCore',
      'GpuaasData',
      'GpuaasHosts',
      'GpuaasSelftest',
    ]);
  });

  test(`have at most ${RESOURCES_MAX} resources each, with three times today’s routes`, () => {
    const routesNow = JSON.stringify(templates).split('"AWS::ApiGatewayV2::Route"').length - 1;
    const grown = readTemplates(synthesizeOnce({ validate: false, change: addRoutes }).outdir);
    const routesThen = JSON.stringify(grown).split('"AWS::ApiGatewayV2::Route"').length - 1;
    expect(routesThen).toBeGreaterThan(2.9 * routesNow);
    for (const [name, { Resources }] of Object.entries(grown))
      expect(Object.keys(Resources).length, name).toBeLessThanOrEqual(RESOURCES_MAX);
  });

  test('export no name, so that none keeps another from changing', () => {
    for (const [name, template] of Object.entries(templates)) {
      expect(
        Object.values(template.Outputs ?? {}).filter(({ Export }) => Export),
        name,
      ).toEqual([]);
      expect(JSON.stringify(template), name).not.toContain('Fn::ImportValue');
    }
  });

  test('can each be deployed alone: they refer only to stacks that are deployed before them', () => {
    const order = [
      'GpuaasData',
      'GpuaasCore',
      'GpuaasCatalog',
      'GpuaasArtifacts',
      'GpuaasHosts',
      'GpuaasSelftest',
    ];
    for (const [name, template] of Object.entries(templates)) {
      const referred = JSON.stringify(template).matchAll(/"Fn::GetStackOutput":{"StackName":"(\w+)"/g);
      const before = name === 'GpuaasAlarms' ? order : order.slice(0, Math.min(2, order.indexOf(name)));
      for (const [, other] of referred) expect(before, name).toContain(other);
    }
  });

  test('that hold no data stand on nothing but data and core, the alarms apart', () => {
    const { artifacts } = manifestOf(outdir);
    const ofStack = (name: string) =>
      (artifacts[name]?.dependencies ?? []).filter((each) => !each.endsWith('.assets')).sort();
    expect(ofStack('GpuaasData')).toEqual([]);
    expect(ofStack('GpuaasCore')).toEqual(['GpuaasData']);
    for (const name of ['GpuaasCatalog', 'GpuaasArtifacts', 'GpuaasHosts', 'GpuaasSelftest'])
      expect(ofStack(name)).toEqual(['GpuaasCore', 'GpuaasData']);
  });
});

describe('what a new account cannot have yet', () => {
  const strict = synthesize({
    validate: false,
    context: { deletion_protection: 'true', reserved_concurrency: 'true' },
  });
  afterAll(strict.remove);

  const protections = ({ outdir, data }: Synthesized): unknown[] => [
    ...Object.values(data).flatMap(({ Properties }) =>
      [Properties.DeletionProtectionEnabled, Properties.DeletionProtection].filter(
        (each) => each !== undefined,
      ),
    ),
    manifestOf(outdir).artifacts['GpuaasData']?.properties.terminationProtection ?? false,
  ];

  test('deletion protection is off at first: what refuses to be deleted would outlive a deployment that failed', () => {
    expect(new Set(protections(synthesizedApp()))).toEqual(new Set([false, 'INACTIVE']));
  });

  test('once it is on, it covers tables, users and the data stack', () => {
    expect(new Set(protections(strict))).toEqual(new Set([true, 'ACTIVE']));
  });

  const reservations = ({ platform }: Synthesized): [name: string, reserved: number | undefined][] =>
    ofType(platform, 'AWS::Lambda::Function').map(([, { Properties }]) => [
      Properties.FunctionName as string,
      Properties.ReservedConcurrentExecutions as number | undefined,
    ]);

  test('concurrency is not reserved by default', () => {
    expect(reservations(synthesizedApp()).filter(([, reserved]) => reserved !== undefined)).toEqual([]);
  });

  test('reserved on request, it bounds each function that answers, and one on a schedule runs once at a time', () => {
    for (const [name, reserved] of reservations(strict)) {
      if (name.endsWith('-api')) expect(reserved, name).toBeGreaterThan(0);
      if (/sweep|expire|maintain/.test(name)) expect(reserved, name).toBe(1);
    }
  });

  test('reservations have to fit into the quota that was stated', () => {
    const stacks = readAssembly(strict.outdir);
    expect(beyondLimits(stacks, { concurrencyQuota: 1_000 })).toEqual([]);
    expect(beyondLimits(stacks, { concurrencyQuota: 120 })).toEqual([
      expect.stringMatching(/^The functions reserve \d+ of 120 concurrent executions/),
    ]);
  });
});
