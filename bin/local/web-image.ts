import { globSync, readFileSync, statSync } from 'node:fs';
import { arch } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Descriptor } from '../../sdk/signing/notation.ts';
import { descriptorOf, digestOf, MANIFEST_TYPE } from '../../sdk/signing/oci.ts';
import { type TarEntry, tarOf } from './tar.ts';

/** An OCI image (image-spec 1.1), ready to be pushed. */
export interface Image {
  descriptor: Descriptor;
  manifest: Buffer;
  /** Its config and its layer. */
  blobs: Buffer[];
}

const CONFIG_TYPE = 'application/vnd.oci.image.config.v1+json';
const LAYER_TYPE = 'application/vnd.oci.image.layer.v1.tar+gzip';
const ARCHITECTURES: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };
/** Nobody's, on every machine. */
const USER = '65532:65532';
const PORT = 8080;

/**
 * A web server with a site: busybox and the files of a folder, in one layer. The same files give the same digest. It
 * runs with a file system that cannot be written, without root and without any capability.
 */
export async function makeWebImage(busybox: string, site: string): Promise<Image> {
  const layerTar = tarOf([
    { kind: 'folder', path: 'bin' },
    { kind: 'file', path: 'bin/busybox', content: readFileSync(busybox), executable: true },
    { kind: 'link', path: 'bin/sh', target: 'busybox' },
    { kind: 'folder', path: 'www' },
    ...entriesOf(site),
  ]);
  const layer = await promisify(gzip)(layerTar);
  const config = Buffer.from(
    JSON.stringify({
      architecture: ARCHITECTURES[arch()] ?? arch(),
      os: 'linux',
      config: {
        User: USER,
        ExposedPorts: { [`${PORT}/tcp`]: {} },
        Env: ['PATH=/bin'],
        Entrypoint: ['/bin/busybox', 'httpd', '-f', '-p', String(PORT), '-h', '/www'],
      },
      rootfs: { type: 'layers', diff_ids: [digestOf(layerTar)] },
    }),
  );
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST_TYPE,
      config: descriptorOf(CONFIG_TYPE, config),
      layers: [descriptorOf(LAYER_TYPE, layer)],
    }),
  );
  return { descriptor: descriptorOf(MANIFEST_TYPE, manifest), manifest, blobs: [config, layer] };
}

/** In the order of their names. Scripts are run by the server, the rest is sent. */
function entriesOf(site: string): TarEntry[] {
  return globSync('**', { cwd: site })
    .filter((path) => path !== '.')
    .toSorted()
    .map((path) => {
      const at = { path: `www/${path}` };
      if (statSync(join(site, path)).isDirectory()) return { ...at, kind: 'folder' };
      const content = readFileSync(join(site, path));
      return { ...at, kind: 'file', content, executable: path.endsWith('.cgi') };
    });
}
