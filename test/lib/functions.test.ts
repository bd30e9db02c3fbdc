import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { VARIABLES } from '../../functions/platform/environment.ts';
import { routes, tables } from '../../functions/routes.ts';
import { packText } from '../../functions/docs/packed-text.ts';
import { buildAsyncapi } from '../../lib/asyncapi.ts';
import { ROOT } from '../../lib/bundle.ts';
import { BUILDS_KEPT } from '../../lib/build-once.ts';
import { synthesize } from '../../lib/local/template/synthesize.ts';
import { buildOpenapi } from '../../lib/openapi.ts';
import { complaintsAbout, recordedSizes, sizesOf } from '../bench/bundle-sizes.ts';
import { bundleOf, ofType, readSynthesis, type Resource, shortName, synthesizedApp } from './synthesized.ts';

const first = synthesizedApp();
const functions = ofType({ ...first.data, ...first.platform }, 'AWS::Lambda::Function');

const nameOf = (fn: Resource) => shortName(fn.Properties.FunctionName);

describe('bundles', () => {
  test('have the same hash in every synthesis, so nothing is deployed that did not change', async () => {
    const again = mkdtempSync(join(tmpdir(), 'gpuaas-synth-again-'));
    // Not taken from where this run keeps its builds: of the same sources the same is built.
    vi.stubEnv(BUILDS_KEPT, undefined);
    await synthesize(again);
    vi.unstubAllEnvs();
    const hashes = (platform: Record<string, Resource>) =>
      ofType(platform, 'AWS::Lambda::Function').map(([, fn]) => fn.Properties.Code.S3Key as string);
    expect(hashes(readSynthesis(again).platform)).toEqual(hashes(first.platform));
    rmSync(again, { recursive: true });
  });

  test('are deployed for every file that exports a handler, and under its name', () => {
    const handlers = globSync('functions/*/*.ts', { cwd: ROOT })
      .filter((file) => /^export const handler\b/m.test(readFileSync(join(ROOT, file), 'utf8')))
      .map((file) => `${basename(dirname(file))}-${basename(file, '.ts')}`);
    expect(functions.map(([, fn]) => nameOf(fn)).sort()).toEqual(handlers.sort());
  });

  test('have about the size that is recorded for them, and none is too large to start fast', () => {
    expect(complaintsAbout(sizesOf(first), recordedSizes())).toEqual([]);
  });

  test.each([
    ['is as large as one may be', { a: 600 }, { a: 600 }, []],
    ['is larger than any may be', { a: 600.1 }, { a: 600 }, [/^a is 600.1 kB, over the 600 kB it may have/]],
    ['has grown by little', { a: 105 }, { a: 100 }, []],
    [
      'has grown by much',
      { a: 106 },
      { a: 100 },
      [/^a is 106.0 kB, 6.0 % over the 100 kB.*--record-bundles$/],
    ],
    ['has shrunk', { a: 50 }, { a: 100 }, []],
    ['is new', { a: 1 }, {}, [/^a is 1.0 kB, and no size is recorded.*--record-bundles$/]],
    ['is gone', {}, { a: 1 }, [/^a is recorded and there is no such function.*--record-bundles$/]],
  ])('a bundle that %s is complained about or not', (_what, sizes, recorded, complaints) => {
    expect(complaintsAbout(sizes, recorded)).toEqual(complaints.map((text) => expect.stringMatching(text)));
  });

  test.each(functions)('%s is given the variables its code reads, and no others', (_, fn) => {
    const code = bundleOf(first.outdir, fn);
    expect(Object.keys(fn.Properties.Environment?.Variables ?? {}).sort()).toEqual(
      VARIABLES.filter((name) => code.includes(`"${name}"`)),
    );
  });

  test.each(functions)('%s carries the routes it answers, and no others', (_, fn) => {
    const code = bundleOf(first.outdir, fn);
    // What answers for the rest has to know them all.
    const answered = Object.entries(routes).filter(([, { domain }]) =>
      [`${domain}-api`, 'unrouted-api'].includes(nameOf(fn)),
    );
    expect(Object.keys(routes).filter((route) => code.includes(`"${route}"`))).toEqual(
      answered.map(([route]) => route),
    );
  });

  test('carry the text of the documents they answer with, and no name that stands for it', () => {
    const [, docs] = functions.find(([, fn]) => nameOf(fn) === 'docs-api') ?? [];
    const code = docs && bundleOf(first.outdir, docs);
    for (const document of [buildOpenapi(), buildAsyncapi()])
      expect(code).toContain(packText(JSON.stringify(document)));
    expect(code).not.toMatch(/\b(OPEN|ASYNC)API_DOCUMENT\b/);
  });

  test('hold only the clients their code calls', () => {
    const end = functions.find(([, fn]) => nameOf(fn) === 'selftest-end-selftest')?.[1];
    const dispatch = functions.find(([, fn]) => nameOf(fn) === 'selftest-dispatch-selftest')?.[1];
    expect(end && bundleOf(first.outdir, end)).not.toContain('AmazonSQS');
    expect(dispatch && bundleOf(first.outdir, dispatch)).toContain('AmazonSQS');
  });

  test('do not hold the client of KMS, but for those that sign: tokens are verified by what the table holds', () => {
    const holding = functions.filter(([, fn]) => bundleOf(first.outdir, fn).includes('TrentService'));
    expect(holding.map(([, fn]) => nameOf(fn))).toEqual([
      'identity-api',
      'agent-api',
      'nodes-api',
      'tasks-api',
    ]);
  });
});

describe('functions/routes.ts', () => {
  const [httpApi] =
    ofType(first.platform, 'AWS::ApiGatewayV2::Api').find(
      ([, api]) => api.Properties.ProtocolType === 'HTTP',
    ) ?? [];

  const served = ofType(first.platform, 'AWS::ApiGatewayV2::Route')
    .filter(([, route]) => route.Properties.ApiId.Ref === httpApi)
    .map(([, { Properties }]) => {
      const integration = first.platform[Properties.Target['Fn::Join'][1][1].Ref];
      const fn = first.platform[integration?.Properties.IntegrationUri['Fn::GetAtt'][0]];
      return [
        Properties.RouteKey,
        {
          auth: Properties.AuthorizationType,
          function: shortName(fn?.Properties.FunctionName),
          payload: integration?.Properties.PayloadFormatVersion,
        },
      ];
    });

  test('is what the gateway serves: each route with its authorization, to the function of its domain', () => {
    const declared = Object.entries(routes).map(([line, { domain, permission }]) => [
      line,
      {
        auth: permission === 'iam' ? 'AWS_IAM' : 'NONE',
        function: `${domain}-api`,
        payload: '2.0',
      },
    ]);
    expect(Object.fromEntries(served)).toMatchObject(Object.fromEntries(declared));
  });

  test('has a line for each route but the one that takes what has none', () => {
    const more = served.filter(([line]) => !(line in routes));
    expect(more).toEqual([['$default', { auth: 'NONE', function: 'unrouted-api', payload: '2.0' }]]);
    // Its ARN is <api>/<stage>/$default: there is no path in it.
    const [id = ''] = functions.find(([, fn]) => nameOf(fn) === 'unrouted-api') ?? [];
    const sources = ofType(first.platform, 'AWS::Lambda::Permission')
      .filter(([, { Properties }]) => Properties.FunctionName['Fn::GetAtt'][0] === id)
      .map(([, { Properties }]) => Properties.SourceArn['Fn::Join'][1].at(-1) as string);
    expect(sources).toEqual(['/*/*']);
  });

  test('names each route once', () => {
    const named = Object.values(tables).flatMap((table) => Object.keys(table));
    expect(named.toSorted()).toEqual(Object.keys(routes).toSorted());
  });

  test.each(Object.entries(routes))(
    '%s is answered by a file of that verb and noun',
    (_, { domain, handler }) => {
      const file = handler.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      expect(existsSync(join(ROOT, 'functions', domain, `${file}.ts`))).toBe(true);
      expect(existsSync(join(ROOT, 'functions', domain, 'api.ts'))).toBe(true);
    },
  );
});
