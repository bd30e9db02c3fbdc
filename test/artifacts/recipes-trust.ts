import { refuse } from '../../functions/platform/errors.ts';
import { hash } from 'node:crypto';
import { type Command, FIRST_VERSION, onPlatform } from '../api/recipe.ts';
import type { Scene } from '../api/scene.ts';
import type { Call } from '../api/world.ts';
import { createDevelopmentChain } from '../../sdk/signing/certificates.ts';
import { planTrustPolicy } from '../../functions/trust/trust-policy.ts';
import { planRevocation } from '../../functions/trust/revoked-certificate.ts';
import {
  findRevokedAndHead,
  findTrustPolicyAndHead,
  saveRevoked,
  saveTrustPolicy,
} from '../../functions/artifacts/trust-store.ts';
import { decidingAgain } from '../../functions/platform/data/change.ts';
import { commit } from '../../functions/platform/data/commit.ts';

const POLICIES = '/api/v1/admin/artifacts/trust-policies';
const REVOKED = '/api/v1/admin/artifacts/revoked-certificates';

const { rootPem } = createDevelopmentChain({ organisation: 'Example' });

/** A policy no other test meets: its pattern is of a project that is not there. */
const wanted = (scene: Scene) => ({
  description: '',
  repository_pattern: `gpuaas/apps/${scene.slug()}/*`,
  roots: [rootPem],
  identities: ['O=Example'],
  provenance: { required: false, builders: [], source_repositories: [] },
});

/** Changes of trust follow one another, so a neighbour's may have to be awaited. */
const persist = (once: () => Promise<void>): Promise<void> => decidingAgain(once, refuse('unavailable'));

async function policyOf(scene: Scene): Promise<string> {
  const name = scene.slug();
  await persist(async () => {
    const { head } = await findTrustPolicyAndHead(name);
    const policy = planTrustPolicy(undefined, name, wanted(scene), 'user:somebody', new Date());
    await commit(saveTrustPolicy(head, undefined, policy, undefined));
  });
  return name;
}

const fingerprint = (scene: Scene): string => hash('sha256', scene.slug());

async function revokedOf(scene: Scene): Promise<string> {
  const revoked = planRevocation(undefined, fingerprint(scene), 'Lost', 'user:somebody', new Date());
  await persist(async () => {
    const { head } = await findRevokedAndHead(revoked.fingerprint);
    await commit(saveRevoked(head, undefined, revoked));
  });
  return revoked.fingerprint;
}

export const trustCommands: Command[] = [
  {
    route: `PUT ${POLICIES}/{policy_name}`,
    prepare: onPlatform(async (scene, token) => {
      const policy_name = scene.slug();
      const call = { params: { policy_name }, body: wanted(scene), token };
      return {
        call,
        subject: `trust_policy:${policy_name}`,
        refused: {
          call: { ...call, params: { policy_name: scene.slug() } },
          code: 'trust_policy.pattern_taken',
        },
      };
    }),
  },
  {
    route: `DELETE ${POLICIES}/{policy_name}`,
    prepare: onPlatform(async (scene, token) => {
      const policy_name = await policyOf(scene);
      const call = { params: { policy_name }, token, headers: FIRST_VERSION };
      return {
        call,
        subject: `trust_policy:${policy_name}`,
        refused: { call, code: 'trust_policy.unknown' },
      };
    }),
  },
  {
    route: `PUT ${REVOKED}/{fingerprint}`,
    prepare: onPlatform(async (scene, token) => {
      const params = { fingerprint: fingerprint(scene) };
      return {
        call: { params, body: { reason: 'The key was lost' }, token },
        subject: `certificate:${params.fingerprint}`,
      };
    }),
  },
  {
    route: `DELETE ${REVOKED}/{fingerprint}`,
    prepare: onPlatform(async (scene, token) => {
      const params = { fingerprint: await revokedOf(scene) };
      const call = { params, token };
      return {
        call,
        subject: `certificate:${params.fingerprint}`,
        refused: { call, code: 'certificate.unknown' },
      };
    }),
  },
];

export const trustReads = {
  'GET /api/v1/admin/artifacts/trust-policies': async (scene) => {
    await policyOf(scene);
    return { token: (await scene.platformAdmin()).token };
  },
  'GET /api/v1/admin/artifacts/trust-policies/{policy_name}': async (scene) => ({
    params: { policy_name: await policyOf(scene) },
    token: (await scene.platformAdmin()).token,
  }),
  'GET /api/v1/admin/artifacts/revoked-certificates': async (scene) => {
    await revokedOf(scene);
    return { token: (await scene.platformAdmin()).token };
  },
} satisfies Record<string, (scene: Scene) => Promise<Call>>;
