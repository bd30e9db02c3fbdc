import { appKey, manifestKey, versionKey } from '../../functions/catalog/keys.ts';
import { newId } from '../../functions/platform/ids.ts';
import { auditKey, outboxKey } from '../../functions/platform/data/keys.ts';
import type { RouteKey } from '../../functions/routes.ts';
import { openScene, type Person } from '../api/scene.ts';
import { type Answer, type Call, openWorld } from '../api/world.ts';

// oxlint-disable-next-line typescript/no-explicit-any
export type Body = Record<string, any>;

export interface Answered extends Omit<Answer, 'body'> {
  body: Body;
}

/** The catalogue's routes as people call them, and what is in the table afterwards. */
export async function openManifestWorld() {
  const world = await openWorld();
  const scene = openScene(world);

  async function ask(route: RouteKey, as: Person, call: Call = {}): Promise<Answered> {
    const headers = { 'x-idempotency-key': newId(), ...call.headers };
    const answer = await world.call(route, { ...call, token: as.token, headers });
    return { ...answer, body: answer.body as Body };
  }

  async function done(answering: Promise<Answered>): Promise<Body> {
    const { status, text, body } = await answering;
    if (status >= 300) throw new Error(`It was refused: ${text}`);
    return body;
  }

  const rows = async (pk: string): Promise<Body[]> =>
    (await world.items(pk)).filter((item) => item['pk'] === pk).sort(bySortKey);

  return {
    world,
    scene,
    ask,
    done,
    app: (slug: string) => world.get(appKey(slug)),
    version: (slug: string, version: string) => world.get(versionKey(slug, version)),
    manifest: (slug: string, version: string) => world.get(manifestKey(slug, version)),
    audit: (place: string) => rows(auditKey(place, '').pk),
    async events(place: string): Promise<Body[]> {
      return (await rows(outboxKey(place, '').pk)).map(({ event }) => event as Body);
    },
    close: () => world.close(),
  };
}

export type ManifestWorld = Awaited<ReturnType<typeof openManifestWorld>>;

function bySortKey(a: Body, b: Body): number {
  return String(a['sk']) < String(b['sk']) ? -1 : 1;
}
