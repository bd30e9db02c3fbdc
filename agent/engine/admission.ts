// Whether an image may start on this host, judged again just before it does: it is assigned, not revoked, and its
// signature holds by the platform's trust policies.

import { findImageEvidence } from '../../functions/content/image-evidence.ts';
import { readRepository, type RegistryLogin } from '../../functions/storage/registry-client.ts';
import type { TrustDocument } from '../../functions/tasks/agent-api.ts';
import { judgeTrust } from '../../functions/trust/trust.ts';
import { type PlatformChannel, TaskFailed } from '../tasks/performer.ts';
import type { Verdicts } from './verdicts.ts';

export interface ImageName {
  repository: string;
  digest: string;
}

export const nameOf = ({ repository, digest }: ImageName): string => `${repository}@${digest}`;

/** At least of this revision, as the platform has signed it. */
export async function readTrust(
  channel: PlatformChannel,
  revision: number,
  images: ImageName[],
): Promise<TrustDocument> {
  const names = images.map(({ repository, digest }) => ({ repository, digest }));
  const trust = await channel.trust(revision, names).catch((error: Error) => {
    throw error instanceof TaskFailed ? error : new TaskFailed('trust_unavailable', error.message);
  });
  if (trust.revision >= revision) return trust;
  throw new TaskFailed(
    'trust_unavailable',
    `The trust policy is of revision ${trust.revision}, not ${revision}.`,
  );
}

export function requireAssigned({ repository, digest }: ImageName, { assigned }: TrustDocument): void {
  const image = assigned.find((each) => each.repository === repository && each.digest === digest);
  if (!image)
    throw new TaskFailed('signature_rejected', `${repository}@${digest} is not assigned to this host.`);
  if (image.status === 'revoked') throw new TaskFailed('revoked', `${repository}@${digest} was revoked.`);
}

export type Credentials = Awaited<ReturnType<PlatformChannel['pullCredentials']>>;

export interface Admission {
  trust: TrustDocument;
  verdicts: Verdicts;
  now: Date;
  /** Asked for only where something has to be fetched. */
  credentials: () => Promise<Credentials>;
}

/** The registry that has the image, once its signature holds. */
export async function requireSigned(image: ImageName, admission: Admission): Promise<string> {
  const { trust, verdicts, now, credentials } = admission;
  requireAssigned(image, trust);
  const kept = verdicts.find(nameOf(image), trust.revision, now);
  if (kept) return kept.registry_host;
  const { registry_host, username, password } = await credentials();
  const login = loginOf(registry_host, username, password);
  const manifest = await readRepository(image.repository, login).manifest(image.digest);
  if (!manifest) throw new TaskFailed('image_pull_failed', `${nameOf(image)} is not in the registry.`);
  const verification = judgeTrust({
    descriptor: { mediaType: manifest.mediaType, digest: image.digest, size: manifest.bytes.length },
    repository: image.repository,
    evidence: await findImageEvidence(image, login),
    trust: { revision: trust.revision, policies: trust.policies, revoked: trust.revoked_certificates },
    now,
  });
  const { verdict, fault, valid_until } = verification;
  if (verdict !== 'verified' || valid_until === undefined)
    throw new TaskFailed('signature_rejected', `${fault?.code ?? 'unknown'}: ${fault?.detail ?? ''}`);
  verdicts.keep(nameOf(image), { registry_host, trust_revision: trust.revision, valid_until });
  return registry_host;
}

/** Plain HTTP only to this machine, as engines do it too. */
function loginOf(host: string, username: string, password: string): RegistryLogin {
  const isLocal = /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::\d+)?$/.test(host);
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  return { endpoint: `${isLocal ? 'http' : 'https'}://${host}`, authorization: `Basic ${basic}` };
}
