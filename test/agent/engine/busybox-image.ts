import { readFileSync } from 'node:fs';
import { arch } from 'node:os';
import { gzipSync } from 'node:zlib';
import { tarOf, type TarEntry } from '../../../bin/local/tar.ts';
import { findBusybox } from '../../../lib/local/system/busybox.ts';
import { descriptorOf, digestOf, MANIFEST_TYPE } from '../../../sdk/signing/oci.ts';
import type { Image } from '../../../bin/local/web-image.ts';

/** What an image says of itself; the user of most is nobody's on this machine. */
export interface ImageConfig {
  User?: string;
  Entrypoint?: string[];
  Cmd?: string[];
  Env?: string[];
  Volumes?: Record<string, object>;
}

const APPLETS =
  'sh httpd sleep cat id env nc wget ls touch mkdir grep dd kill true false test ps mount head tail echo';

const FILES: TarEntry[] = [
  { kind: 'folder', path: 'bin' },
  { kind: 'folder', path: 'www' },
  { kind: 'folder', path: 'etc' },
  { kind: 'file', path: 'www/index.html', content: Buffer.from('hello\n') },
];

/** Busybox with a page to serve, which it does on 8080 unless it is told otherwise. */
export function makeImage(config: ImageConfig = {}, more: TarEntry[] = []): Image {
  const busybox = findBusybox();
  if (busybox === undefined) throw new Error('busybox is missing: apt-get install busybox-static');
  const tar = tarOf([
    ...FILES,
    { kind: 'file', path: 'bin/busybox', content: readFileSync(busybox), executable: true },
    ...APPLETS.split(' ').map((name): TarEntry => ({ kind: 'link', path: `bin/${name}`, target: 'busybox' })),
    ...more,
  ]);
  const layer = gzipSync(tar, { level: 1 });
  const described = {
    architecture: { x64: 'amd64' }[arch() as 'x64'] ?? arch(),
    os: 'linux',
    config: { Env: ['PATH=/bin'], Entrypoint: ['/bin/httpd', '-f', '-p', '8080', '-h', '/www'], ...config },
    rootfs: { type: 'layers', diff_ids: [digestOf(tar)] },
  };
  const bytes = Buffer.from(JSON.stringify(described));
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST_TYPE,
      config: descriptorOf('application/vnd.oci.image.config.v1+json', bytes),
      layers: [descriptorOf('application/vnd.oci.image.layer.v1.tar+gzip', layer)],
    }),
  );
  return { descriptor: descriptorOf(MANIFEST_TYPE, manifest), manifest, blobs: [bytes, layer] };
}
