import { hash } from 'node:crypto';

export const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
export const OCI_INDEX = 'application/vnd.oci.image.index.v1+json';
export const DOCKER_MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
export const DOCKER_LIST = 'application/vnd.docker.distribution.manifest.list.v2+json';
export const OCI_CONFIG = 'application/vnd.oci.image.config.v1+json';
export const OCI_LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';

export const digestOf = (content: string | Uint8Array): string => `sha256:${hash('sha256', content)}`;

export const describeContent = (mediaType: string, content: string) => ({
  mediaType,
  digest: digestOf(content),
  size: Buffer.byteLength(content),
});

/** What an image says of the process that runs in it. */
export function planConfig(config: object = {}, platform: object = {}): string {
  return JSON.stringify({
    architecture: 'amd64',
    os: 'linux',
    ...platform,
    config: { User: '1000:1000', ExposedPorts: { '8888/tcp': {} }, Env: ['PATH=/bin'], ...config },
    rootfs: { type: 'layers', diff_ids: [] },
  });
}

export function planManifest(config = planConfig(), more: object = {}, layer = 'a layer'): string {
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    config: describeContent(OCI_CONFIG, config),
    layers: [describeContent(OCI_LAYER, layer)],
    ...more,
  });
}

export const onPlatform = (manifest: string, platform: object = { os: 'linux', architecture: 'amd64' }) => ({
  ...describeContent(OCI_MANIFEST, manifest),
  platform,
});

export function planIndex(manifests: object[], more: object = {}): string {
  return JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests, ...more });
}
