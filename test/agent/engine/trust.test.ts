// What runs was approved: who signed an image is judged again on the host, just before it starts.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createDevelopmentChain } from '../../../sdk/signing/certificates.ts';
import { until } from '../../until.ts';
import { makeImage } from './busybox-image.ts';
import type { Published } from './platform.ts';
import { type EngineWorld, failureOf, openEngineWorld } from './world.ts';

let world: EngineWorld;

beforeAll(async () => {
  world = await openEngineWorld();
});
afterAll(() => world?.close());
afterEach(async () => expect(await world.leftovers()).toEqual([]));

let made = 0;
/** Each with a digest of its own. */
const newImage = () => makeImage({ Env: ['PATH=/bin', `NUMBER=${(made += 1)}`] });
const launch = (image: Published, change: object = {}) => {
  const payload = world.launchOf(world.container({}, image));
  const task = world.taskOf('oci.launch', payload, change);
  return { workload_id: payload.workload_id, done: world.perform(task) };
};
const isPulled = async ({ digest }: Published): Promise<boolean> =>
  (await world.docker.listImages({ digests: true })).some(({ RepoDigests }) =>
    RepoDigests?.some((name) => name.endsWith(digest)),
  );

test('an image that nobody signed does not start, and is not even pulled', async () => {
  const image = await world.platform.publish(newImage(), { signedBy: 'nobody' });
  const failure = await failureOf(launch(image).done);
  expect(failure).toMatchObject({ code: 'signature_rejected' });
  expect(failure.message).toContain('signature.none');
  expect(await isPulled(image)).toBe(false);
});

test('an image that a stranger signed does not start', async () => {
  const stranger = createDevelopmentChain({ organisation: 'Example' });
  const image = await world.platform.publish(newImage(), { signedBy: stranger });
  const failure = await failureOf(launch(image).done);
  expect(failure).toMatchObject({ code: 'signature_rejected' });
  expect(failure.message).toContain('chain.untrusted');
});

test('an image that is not assigned to this host does not start, whoever signed it', async () => {
  const image = await world.platform.publish(newImage(), { isAssigned: false });
  expect(await failureOf(launch(image).done)).toMatchObject({ code: 'signature_rejected' });
});

test('an image that is not in the registry does not start', async () => {
  const image = await world.platform.publish(newImage());
  const gone = { ...image, digest: `sha256:${'0'.repeat(64)}` };
  expect(await failureOf(launch(gone).done)).toMatchObject({ code: 'signature_rejected' });
});

test('a revoked image does not start, also where it ran before', async () => {
  const image = await world.platform.publish(newImage());
  const first = launch(image);
  await first.done;
  await world.run('oci.remove', { workload_id: first.workload_id });
  world.platform.revoke(image);
  expect(await isPulled(image)).toBe(true);
  expect(await failureOf(launch(image).done)).toMatchObject({ code: 'revoked' });
});

test('a revoked image is not started again when its container ends', async () => {
  const image = await world.platform.publish(newImage());
  const controller = new AbortController();
  const watching = world.agent.watch(controller.signal);
  const { workload_id, done } = launch(image);
  await done;
  world.platform.revoke(image);
  await world.docker.getContainer(`gpuaas-${workload_id}-main`).kill();
  const status = await until(() => {
    const last = world.platform.lastTold(workload_id);
    return last?.state === 'failed' && last;
  });
  expect(status.detail).toContain('revoked');
  expect((await world.inspect(workload_id)).State.Running).toBe(false);
  await world.run('oci.remove', { workload_id });
  controller.abort();
  await watching;
});

test('a verdict is kept by the revision of trust: the platform is asked nothing the second time', async () => {
  const image = await world.platform.publish(newImage());
  const remove = ({ workload_id }: { workload_id: string }) => world.run('oci.remove', { workload_id });
  const first = launch(image);
  await first.done;
  await remove(first);
  const asked = world.platform.state.credentialsAsked;
  const next = world.openAgent();
  const payload = world.launchOf(world.container({}, image));
  await world.perform(world.taskOf('oci.launch', payload), { by: next });
  await world.perform(world.taskOf('oci.remove', { workload_id: payload.workload_id }), { by: next });
  expect(world.platform.state.credentialsAsked).toBe(asked);
  world.platform.state.revision += 1;
  const second = launch(image);
  await second.done;
  await remove(second);
  expect(world.platform.state.credentialsAsked).toBe(asked + 1);
});

test('without the trust policy, or with an older one than the task asks for, nothing starts', async () => {
  const { web } = world.images;
  const later = launch(web, { trust_revision: world.platform.state.revision + 1 });
  expect(await failureOf(later.done)).toMatchObject({ code: 'trust_unavailable' });
  world.platform.state.isTrustThere = false;
  expect(await failureOf(launch(web).done)).toMatchObject({ code: 'trust_unavailable' });
  world.platform.state.isTrustThere = true;
});
