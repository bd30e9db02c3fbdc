// How many DynamoDB requests every route makes, as its client counts them. The budget: a read makes one, a command
// one transaction besides the reads its rules need, and authorization none on a warm function.

import { dynamo } from '../../functions/platform/clients.ts';
import { newId } from '../../functions/platform/ids.ts';
import { type RouteKey, routes } from '../../functions/routes.ts';
import { commands, reads, reports } from './recipes.ts';
import { openScene } from './scene.ts';
import type { Call, World } from './world.ts';

interface Requests {
  reads: number;
  transactions: number;
  /** Writes of one item, without a transaction; only where there are any. */
  updates?: number;
}

export interface Counted {
  name: string;
  route: RouteKey;
  kind: 'read' | 'command' | 'report';
  /** By a function that knows the caller and the place. */
  warm: Requests;
  /** By one that has just started. */
  cold: Requests;
  /** What was spent when the call was refused as soon as the caller was known. */
  authorization: { warm: number; cold: number };
}

/** Calls every route, by every recipe for it, warm and cold. */
export async function countRequests(world: World): Promise<Counted[]> {
  const scene = openScene(world);
  const somebody = { token: (await scene.platformAdmin()).token };
  const sent = recordSent();

  async function count(route: RouteKey, call: Call, isRefused = false): Promise<Requests> {
    sent.length = 0;
    const { status, text } = await world.call(route, { ...call, headers: { 'x-idempotency-key': newId() } });
    if (status >= 300 !== isRefused) throw new Error(`${route} answered ${status}: ${text}`);
    const transactions = sent.filter((name) => name === 'TransactWriteItemsCommand').length;
    const updates = sent.filter((name) => name === 'UpdateItemCommand').length;
    return { reads: sent.length - transactions - updates, transactions, ...(updates > 0 && { updates }) };
  }

  async function countAll(
    name: string,
    route: RouteKey,
    kind: Counted['kind'],
    prepare: () => Promise<Call>,
  ): Promise<Counted> {
    const call = await prepare();
    const refused = { ...call, query: { unheard_of: '' } };
    world.forgetAuthorization();
    const first = await count(route, refused, true);
    const second = await count(route, refused, true);
    // Where anybody may call, somebody has called: that the function knows its keys is part of being warm.
    if (routes[route].permission === 'public') await world.call('GET /api/v1/me', somebody);
    // And somebody has looked at the catalogue, since it changed last.
    if (routes[route].domain === 'catalog') await world.call('GET /api/v1/apps/catalog', somebody);
    const warm = await count(route, call);
    const another = await prepare();
    world.forgetAuthorization();
    const cold = await count(route, another);
    return { name, route, kind, warm, cold, authorization: { warm: second.reads, cold: first.reads } };
  }

  const counted: Counted[] = [];
  for (const [route, prepare] of reads)
    counted.push(await countAll(route, route, 'read', () => prepare(scene)));
  for (const [route, prepare] of reports)
    counted.push(await countAll(route, route, 'report', () => prepare(scene)));
  for (const [name, { route, prepare }] of commands)
    counted.push(await countAll(name, route, 'command', async () => (await prepare(scene)).call));
  return counted;
}

function recordSent(): string[] {
  const sent: string[] = [];
  dynamo().middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        sent.push(String(commandName));
        return next(args);
      },
    { step: 'initialize', name: 'recordSent' },
  );
  return sent;
}
