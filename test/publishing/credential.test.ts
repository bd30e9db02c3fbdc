import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../functions/platform/ids.ts';
import { planIntent } from '../../functions/publishing/intent.ts';
import { mintCredential } from '../../functions/publishing/mint-credential.ts';
import { openScene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { OciClient } from '../local/oci-client.ts';
import { until } from '../until.ts';

// With the real registry, its tokens and the roles behind them.

let world: World;

beforeAll(async () => {
  world = await openWorld({ registry: 'real' });
});

afterAll(() => world.close());

test('a credential pushes until it ends, and then it does not', async () => {
  const { project } = await openScene(world).place();
  const wanted = {
    app_slug: 'ending',
    app_version: '1.0.0',
    artifact_name: 'runtime',
    artifact_kind: 'oci',
    channel: 'dev',
    credential_ttl_seconds: 60,
  } as const;
  const signing = {
    signature_required: true,
    signature_scheme: 'notation-jws',
    signing_key_id: null,
    trust_policy: null,
    accepted_identities: [] as string[],
    provenance_required: false,
  } as const;
  const intent = planIntent(newId(), wanted, { project, actor: 'user:somebody', signing }, new Date());
  world.services.ecr.putRepository({ name: intent.repository, tagMutability: 'IMMUTABLE' });
  const push = async (password: string, tag: string): Promise<number> => {
    const { registry, realm } = world.services;
    const client = await OciClient.login(registry.url, realm, password, intent.repository);
    return (await client.push(tag, `content of ${tag}`)).status;
  };

  // Nobody can ask for as little as this; that it ends is the same. A busy machine may need more of it to push at all.
  for (let seconds = 2; ; seconds *= 2) {
    const endsAt = new Date(Date.now() + seconds * 1000);
    const { password } = await mintCredential({ ...intent, credential_expires_at: endsAt.toISOString() });
    const isPushed = (await push(password, `in-time-${seconds}`)) === 201;
    await until(() => new Date() >= endsAt, 'the credential to end', 60);
    expect(await push(password, `late-${seconds}`)).toBe(401);
    if (isPushed) return;
    expect(seconds, 'the push to be in time').toBeLessThan(60);
  }
});
