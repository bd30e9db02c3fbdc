import { attach } from '../../sdk/signing/attach.ts';
import { describeFile, type FileIntent, uploadFile } from '../../sdk/signing/files.ts';
import { type Descriptor, signDescriptor } from '../../sdk/signing/notation.ts';
import { openRegistry, type RegistryAccess } from '../../sdk/signing/registry-access.ts';
import type { DemoApi } from './demo-api.ts';
import type { DemoSigner } from './seed-signing.ts';
import type { Image } from './web-image.ts';

/** A version of an app of the demo, whose developer publishes its artifacts. */
export interface Publication {
  developer: DemoApi;
  signer: DemoSigner;
  projectId: string;
  app_slug: string;
  app_version: string;
}

/** What is published, and how it gets to where an intent says. */
export interface Content {
  artifact_name: string;
  artifact_kind: 'oci' | 'blob';
  descriptor: Descriptor;
  push(intent: Intent, signature: Buffer): Promise<void>;
}

type Intent = FileIntent & {
  registry_host: string;
  repository: string;
  tag: string;
  unwrap_path: string;
  wrapping_token: string;
};

export interface Artifact {
  id: string;
  artifact_name: string;
  artifact_kind: 'oci' | 'blob';
  digest: string;
  media_type: string;
  size_bytes: number;
  lifecycle_state: string;
  trust_state: string;
  verification?: { signer?: { fingerprint: string } };
}

export const artifactsPath = ({ projectId }: Pick<Publication, 'projectId'>): string =>
  `/api/v1/projects/${projectId}/app-artifacts`;

export async function listArtifacts(publication: Publication): Promise<Artifact[]> {
  const { developer, app_slug, app_version } = publication;
  const query = `app_slug=${app_slug}&app_version=${app_version}&limit=100`;
  return (await developer.send<{ items: Artifact[] }>('GET', `${artifactsPath(publication)}?${query}`)).items;
}

export function imageContent(publication: Publication, name: string, image: Image): Content {
  const { descriptor, manifest, blobs } = image;
  return {
    artifact_name: name,
    artifact_kind: 'oci',
    descriptor,
    push: async (intent, signature) => {
      const registry = await openRegistryOf(publication, intent);
      await Promise.all(blobs.map((blob) => registry.pushBlob(intent.repository, blob)));
      const content = { mediaType: descriptor.mediaType, bytes: manifest };
      await registry.putManifest(intent.repository, intent.tag, content);
      await attachSignature(registry, intent, descriptor, signature);
    },
  };
}

export async function fileContent(name: string, path: string): Promise<Content> {
  return {
    artifact_name: name,
    artifact_kind: 'blob',
    descriptor: await describeFile(path),
    push: (intent, signature) => uploadFile({ path, intent, signature }),
  };
}

/** What is there already, of which only the signature is new. */
const signedAgain = (publication: Publication, artifact: Artifact): Content => {
  const { artifact_name, artifact_kind, media_type, digest, size_bytes } = artifact;
  const descriptor = { mediaType: media_type, digest, size: size_bytes };
  return {
    artifact_name,
    artifact_kind,
    descriptor,
    push: async (intent, signature) => {
      if (artifact_kind === 'oci') {
        const registry = await openRegistryOf(publication, intent);
        await attachSignature(registry, intent, descriptor, signature);
        return;
      }
      const body = new Uint8Array(signature);
      const answer = await fetch(intent.signature_upload_path, { method: 'PUT', body });
      if (!answer.ok) throw new Error(`The signature could not be uploaded (${answer.status}).`);
    },
  };
};

/** The registry, with the credential of the intent. */
async function openRegistryOf({ developer }: Publication, intent: Intent): Promise<RegistryAccess> {
  const { registry_host: host, unwrap_path, wrapping_token } = intent;
  const credentials = await developer.send<{ username: string; password: string }>('POST', unwrap_path, {
    wrapping_token,
  });
  return openRegistry({ host, credentials });
}

/** Nobody else signs the same image at this moment: there is nobody to wait for. */
const attachSignature = (
  registry: RegistryAccess,
  { repository }: Intent,
  subject: Descriptor,
  signature: Buffer,
) => attach({ registry, repository, subject, signature, settleMs: 0 });

/** Pushed, signed, registered and verified; what was registered in a start that was interrupted goes on from there. */
export async function publish(publication: Publication, content: Content): Promise<Artifact> {
  const { artifact_name, descriptor } = content;
  const known = (await listArtifacts(publication)).find(
    (artifact) => artifact.artifact_name === artifact_name && artifact.digest === descriptor.digest,
  );
  if (known) return keepTrusted(publication, known);
  await push(publication, content);
  const path = artifactsPath(publication);
  const body = { ...nameOf(publication, content), digest: descriptor.digest };
  return verify(publication, await publication.developer.send<Artifact>('POST', path, body));
}

/** Who signs now need not be who signed then. What was revoked stays revoked. */
export async function keepTrusted(publication: Publication, artifact: Artifact): Promise<Artifact> {
  const { trust_state, verification } = artifact;
  if (trust_state === 'revoked') return artifact;
  if (trust_state === 'verified' && verification?.signer?.fingerprint === publication.signer.fingerprint)
    return artifact;
  await push(publication, signedAgain(publication, artifact));
  return verify(publication, artifact);
}

async function push(publication: Publication, content: Content): Promise<void> {
  const { developer, signer } = publication;
  const path = `${artifactsPath(publication)}/publish-intents`;
  const intent = await developer.send<Intent>('POST', path, nameOf(publication, content));
  await content.push(intent, await signDescriptor(content.descriptor, signer, { signedAt: new Date() }));
}

const nameOf = ({ app_slug, app_version }: Publication, { artifact_name, artifact_kind }: Content) => ({
  app_slug,
  app_version,
  artifact_name,
  artifact_kind,
});

const verify = (publication: Publication, { id }: Artifact): Promise<Artifact> =>
  publication.developer.send<Artifact>('POST', `${artifactsPath(publication)}/${id}/verify`);
