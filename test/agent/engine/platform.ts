// What a host meets of the platform: a registry that asks IAM, a signed trust policy, secrets that are told once, and the
// node's own key. Nothing here knows what the agent does with it.

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { CreateRepositoryCommand } from '@aws-sdk/client-ecr';
import { CompactSign, compactVerify } from 'jose';
import type { PlatformChannel } from '../../../agent/tasks/performer.ts';
import type { TrustDocument, WorkloadStatus } from '../../../functions/tasks/agent-api.ts';
import type { TrustPolicy } from '../../../functions/trust/trust-policy.ts';
import type { Image } from '../../../bin/local/web-image.ts';
import { attach } from '../../../sdk/signing/attach.ts';
import { createDevelopmentChain, type DevelopmentChain } from '../../../sdk/signing/certificates.ts';
import { signDescriptor } from '../../../sdk/signing/notation.ts';
import { MANIFEST_TYPE } from '../../../sdk/signing/oci.ts';
import { openRegistry } from '../../../sdk/signing/registry-access.ts';
import { keySigner } from '../../../sdk/signing/signer.ts';
import { openEcrWorld, PULL } from '../../local/registry/ecr-world.ts';

type Assigned = TrustDocument['assigned'][number];

export interface Published {
  repository: string;
  digest: string;
}

interface Publishing {
  name?: string;
  signedBy?: DevelopmentChain | 'nobody';
  isAssigned?: boolean;
}

const NO_PROVENANCE = { required: false, builders: [], source_repositories: [] };

export async function openHostPlatform(nodeId: string) {
  const ecr = await openEcrWorld();
  const nodeKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const chain = createDevelopmentChain({ organisation: 'Example' });
  const password = await ecr.password(ecr.principals.operator());
  const registry = openRegistry({ host: ecr.registry.host, credentials: { username: 'AWS', password } });
  const policy: TrustPolicy = {
    name: 'apps',
    description: '',
    repository_pattern: 'gpuaas/apps/*',
    roots: [chain.rootPem],
    identities: ['O=Example'],
    provenance: NO_PROVENANCE,
    version: 1,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    updated_by: 'user:1',
  };
  const repositories = new Set<string>();
  const assigned: Assigned[] = [];
  const secrets = new Map<string, { value: Buffer; fetchId?: string }>();
  const state = { revision: 1, allowRoot: false, isTrustThere: true, credentialsAsked: 0 };
  const told: { workloadId: string; status: WorkloadStatus }[] = [];

  async function publish(
    image: Image,
    { name = 'web', signedBy = chain, isAssigned = true }: Publishing = {},
  ): Promise<Published> {
    const repository = `gpuaas/apps/example/${name}`;
    const imageTagMutability = 'MUTABLE' as const;
    if (!repositories.has(repository))
      await ecr.operator.send(
        new CreateRepositoryCommand({ repositoryName: repository, imageTagMutability }),
      );
    repositories.add(repository);
    for (const blob of image.blobs) await registry.pushBlob(repository, blob);
    const { descriptor, manifest } = image;
    await registry.putManifest(repository, descriptor.digest, { mediaType: MANIFEST_TYPE, bytes: manifest });
    if (signedBy !== 'nobody') {
      const signature = await signDescriptor(descriptor, keySigner(signedBy), { signedAt: new Date() });
      await attach({ registry, repository, subject: descriptor, signature, settleMs: 0 });
    }
    const published = { repository, digest: descriptor.digest };
    if (isAssigned) assigned.push({ ...published, status: 'approved' });
    return published;
  }

  const channel: PlatformChannel = {
    async pullCredentials(asked) {
      state.credentialsAsked += 1;
      const session = ecr.session(PULL, asked);
      return { registry_host: ecr.registry.host, username: 'AWS', password: await ecr.password(session) };
    },
    async trust() {
      if (!state.isTrustThere) throw new Error('The platform does not answer.');
      return {
        node_id: nodeId,
        revision: state.revision,
        iat: 0,
        exp: 4_000_000_000,
        policies: [policy],
        revoked_certificates: [],
        assigned,
        allow_root_without_remap: state.allowRoot,
      };
    },
    async secret(handle, fetchId) {
      const secret = secrets.get(handle);
      if (!secret || (secret.fetchId ?? fetchId) !== fetchId) throw new Error('There is no such secret.');
      secret.fetchId = fetchId;
      return secret.value;
    },
    sign: (payload) =>
      new CompactSign(Buffer.from(JSON.stringify(payload)))
        .setProtectedHeader({ alg: 'ES256', kid: nodeId })
        .sign(nodeKey.privateKey),
    tellWorkload: (workloadId, status) => void told.push({ workloadId, status }),
  };

  return {
    ecr,
    channel,
    state,
    told,
    publish,
    /** What the last word about a workload was. */
    lastTold: (workloadId: string) => told.findLast((each) => each.workloadId === workloadId)?.status,
    /** A change of trust, as every revocation is one. */
    revoke({ digest }: Published): void {
      for (const image of assigned) if (image.digest === digest) image.status = 'revoked';
      state.revision += 1;
    },
    /** A handle for a value; fetched by two ids it is told to the first. */
    keepSecret(value: string): string {
      const handle = randomBytes(32).toString('base64url');
      secrets.set(handle, { value: Buffer.from(value) });
      return handle;
    },
    /** What was signed, if by the node's key. */
    async verify(jws: string): Promise<unknown> {
      const { payload } = await compactVerify(jws, nodeKey.publicKey);
      return JSON.parse(Buffer.from(payload).toString('utf8'));
    },
    close: () => ecr.close(),
  };
}
