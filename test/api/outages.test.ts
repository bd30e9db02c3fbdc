import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import * as v from 'valibot';
import { beforeAll, describe, expect, test } from 'vitest';
import { createContext } from '../../functions/platform/context.ts';
import { nodePrincipalKey } from '../../functions/platform/data/keys.ts';
import * as metrics from '../../functions/platform/metrics.ts';
import { routes, type RouteKey, tables } from '../../functions/routes.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { forgetWorld } from '../forget-world.ts';
import { ofType, synthesizedApp } from '../lib/synthesized.ts';
import type { HostKeys } from '../nodes/enrolments.ts';

// What the alarms on our own metrics watch is what the functions really write, name by name and dimension by dimension.

interface Line {
  _aws?: { CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string }[] }[] };
  [field: string]: unknown;
}

interface Written {
  metric: string;
  value: number;
}

const written: Written[] = [];

const nameOf = (namespace: string, name: string, dimensions: [string, unknown][]): string =>
  [namespace, name, ...dimensions.map(([key, value]) => `${key}=${String(value)}`)].join(' ');

/** As CloudWatch reads a line of the log. */
function metricsIn(line: Line): Written[] {
  return (line._aws?.CloudWatchMetrics ?? []).flatMap(({ Namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((keys) =>
      Metrics.map(({ Name }) => ({
        metric: nameOf(
          Namespace,
          Name,
          keys.map((key) => [key, line[key]]),
        ),
        value: Number(line[Name]),
      })),
    ),
  );
}

const { platform } = synthesizedApp();
const alarms = ofType(platform, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties);
const own = alarms.filter(({ Namespace }) => Namespace === 'Gpuaas');
const filters = ofType(platform, 'AWS::Logs::MetricFilter').map(([, { Properties }]) => Properties);

const watched = own.map(({ Namespace, MetricName, Dimensions = [] }) =>
  nameOf(
    Namespace as string,
    MetricName as string,
    (Dimensions as { Name: string; Value: unknown }[]).map(({ Name, Value }) => [Name, Value]),
  ),
);

async function breakRequests(): Promise<void> {
  forgetWorld();
  const { openWorld } = await import('./world.ts');
  const { openScene } = await import('./scene.ts');
  const { anyAddress } = await import('./world.ts');
  const { heartbeatOf } = await import('../nodes/recipes.ts');
  const { enrolmentOf, newHost } = await import('../nodes/enrolments.ts');
  const { openTaskScene, succeeded } = await import('../tasks/task-scene.ts');
  const { planSecret } = await import('../../functions/tasks/plan-secret.ts');
  const { commit } = await import('../../functions/platform/data/commit.ts');
  const { newId } = await import('../../functions/platform/ids.ts');
  const { announce } = await import('../publishing/recipes-publish.ts');
  const { handler: openConnection } = await import('../../functions/events/open-connection.ts');
  const { handler: catalog } = await import('../../functions/catalog/api.ts');
  const { handler: unrouted } = await import('../../functions/unrouted/api.ts');
  const world = await openWorld();
  try {
    const scene = openScene(world);
    const { project, admin } = await scene.place();

    const { intent, token } = await announce(scene, project);
    const unwrap = (wrapping_token: string) =>
      world.call('POST /api/v1/projects/{project_id}/app-artifacts/publish-intents/{intent_id}/unwrap', {
        params: { project_id: project.id, intent_id: intent.id },
        body: { wrapping_token },
        token: admin.token,
        headers: { 'x-idempotency-key': scene.slug() },
      });
    await unwrap('x'.repeat(43));
    await unwrap(token);
    await unwrap(token);

    // Hosts that are not who they say, or come with what is another's.
    const [node, other] = [await scene.node(), await scene.node()];
    const nodeToken = await scene.nodeToken(node);
    const beat = (node_id: string, body: object) =>
      world.call('POST /api/v1/nodes/{node_id}/heartbeat', {
        params: { node_id },
        body,
        token: nodeToken,
      });
    await beat(other.id, {});
    await beat(node.id, heartbeatOf('0199aaaa-0000-7000-8000-000000000002', new Date(2_000)));
    await beat(node.id, heartbeatOf('0199aaaa-0000-7000-8000-000000000001', new Date(1_000)));
    const join = async (joining: typeof node, host: HostKeys) =>
      world.call('POST /api/v1/nodes/{node_id}/enrolment', {
        params: { node_id: joining.id },
        body: await enrolmentOf(joining.id, joining.join_token, host),
        sourceIp: anyAddress(),
      });
    await join(node, newHost());
    const pending = await scene.node({ isPending: true });
    await join(pending, node);
    await world.set(nodePrincipalKey(pending.id), 'join_expires_at', '2026-01-01T00:00:00.000Z');
    await join(pending, newHost());

    const tasks = openTaskScene(world, scene);
    const [launched, thief] = [await tasks.launched(), await tasks.host()];
    await tasks.end(thief, launched.task['id'] as string, succeeded(1));
    const body = { repositories: ['gpuaas/apps/somebody/else'] };
    await tasks.say(thief, 'POST /pull-credentials', { body });
    const about = { node_id: launched.host.id, value: Buffer.from('secret'), seconds: 600 };
    const { handle, writes } = planSecret({ newId, now: () => new Date() }, about);
    await commit(writes);
    for (const by of [launched.host, launched.host, thief])
      await tasks.say(by, 'POST /secrets', { body: { handle, fetch_id: newId() } });

    // The work is not done when the time is over.
    const late = {
      routeKey: 'GET /api/v1/apps/catalog',
      headers: { authorization: `Bearer ${admin.token}` },
    };
    world.forgetAuthorization();
    await catalog(late as unknown as APIGatewayProxyEventV2, { getRemainingTimeInMillis: () => 0 });

    // Without a table it can only fail by itself, as of an event that it cannot read.
    await unrouted({ headers: {} } as unknown as APIGatewayProxyEventV2);

    // The table is gone, and with it every domain; two have no table, but lack their documents.
    process.env['CONTROL_TABLE'] = 'gone';
    for (const name of ['OPENAPI_DOCUMENT', 'BOOTSTRAP_SCRIPT'])
      delete (globalThis as Record<string, unknown>)[name];
    for (const [domain, table] of Object.entries(tables)) {
      const isOpen = (route: string) => ['public', 'iam'].includes(routes[route as RouteKey].permission);
      const route =
        Object.keys(table).find((each) => ['agent', 'docs'].includes(domain) || !isOpen(each)) ?? '';
      world.forgetAuthorization();
      await world.call(route, { params: { project_id: project.id }, token: admin.token });
    }
    await openConnection({
      requestContext: { routeKey: '$connect', connectionId: 'c' },
      queryStringParameters: { ticket: 'x'.repeat(43) },
    } as unknown as Parameters<typeof openConnection>[0]);
  } finally {
    await world.close();
  }
}

async function breakEvents(): Promise<void> {
  forgetWorld();
  const { openRelayWorld } = await import('../events/relay-world.ts');
  const { queueConsumer } = await import('../../functions/platform/workflow/consumer.ts');
  const { runSweep } = await import('../../functions/platform/workflow/sweep.ts');
  // What is swept was just written, as if long ago: its index has had the time to see it.
  const world = await openRelayWorld({ roughness: SMOOTH });
  try {
    await world.sayBefore(60, { project_id: 'somewhere' }, 'a.b.reacted');
    world.takeBusAway(true);
    await world.sweep();

    const busy = async () => {
      throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
    };
    const waiting = {
      messageId: 'm1',
      receiptHandle: 'unknown',
      body: '{}',
      attributes: { SentTimestamp: String(Date.now() - 600_000), ApproximateReceiveCount: '9' },
    };
    const consumer = queueConsumer(v.unknown(), busy);
    await consumer({ Records: [waiting] } as unknown as Parameters<typeof consumer>[0]);
    await runSweep(createContext('look-1'), {
      noun: 'thing',
      find: async () => ['one'],
      mend: busy,
      label: () => ({}),
      secondsMax: 10,
    });
  } finally {
    await world.close();
  }
}

beforeAll(async () => {
  process.stdout.write = (chunk: string | Uint8Array) => {
    const text = String(chunk);
    if (text.startsWith('{')) written.push(...metricsIn(JSON.parse(text) as Line));
    return true;
  };
  await breakRequests();
  await breakEvents();
}, 120_000);

describe('an outage', () => {
  const filtered = new Set(
    filters.flatMap(({ MetricTransformations }) =>
      (MetricTransformations as { MetricNamespace: string; MetricName: string }[]).map(
        ({ MetricNamespace, MetricName }) => nameOf(MetricNamespace, MetricName, []),
      ),
    ),
  );

  test.each(watched.filter((each) => !filtered.has(each)))('is told as %s, and watched as that', (metric) => {
    expect(written.filter((each) => each.metric === metric && each.value > 0)).not.toEqual([]);
  });

  test('of any domain is watched, and so is every other metric but those of ordinary requests', () => {
    const unwatched = written.map(({ metric }) => metric).filter((metric) => !watched.includes(metric));
    const ordinary = new Set(
      [...Object.keys(tables), 'unrouted'].flatMap((domain) =>
        ['duration_ms', 'refused'].map((name) => nameOf('Gpuaas', name, [['domain', domain]])),
      ),
    );
    expect([...new Set(unwatched)].filter((metric) => !ordinary.has(metric))).toEqual([]);
  });

  test('is old enough to be noticed where its age is watched', () => {
    const ages = own.filter(({ Statistic }) => Statistic === 'Maximum');
    expect(ages.map(({ MetricName }) => MetricName as string)).toEqual(['waiting_seconds']);
    const oldest = Math.max(
      ...written.filter(({ metric }) => metric === 'Gpuaas waiting_seconds').map(({ value }) => value),
    );
    expect(oldest).toBeGreaterThan(ages[0]?.Threshold as number);
  });

  test('was told by everything that counts', () => {
    expect(Object.keys(metrics).sort()).toEqual([
      'countMissed',
      'countOffBus',
      'countRefusal',
      'countRequest',
      'countUnrepaired',
      'countWaiting',
    ]);
  });
});

describe('what the gateway refuses by itself', () => {
  test('is counted from fields that its log has', () => {
    expect(filters).toHaveLength(1);
    const stages = ofType(platform, 'AWS::ApiGatewayV2::Stage');
    const formats = stages.flatMap(([, { Properties }]) => Properties.AccessLogSettings?.Format ?? []);
    for (const { FilterPattern } of filters) {
      const fields = [...String(FilterPattern).matchAll(/\$\.(\w+)/g)].map(([, field]) => field);
      expect(fields).toEqual(['status', 'integration_latency_ms']);
      expect(Object.keys(JSON.parse(formats[0] as string) as object)).toEqual(expect.arrayContaining(fields));
    }
  });
});
