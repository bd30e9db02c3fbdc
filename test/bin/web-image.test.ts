import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { folderOf } from '../../bin/local/seed-catalog.ts';
import { tarOf } from '../../bin/local/tar.ts';
import { makeWebImage } from '../../bin/local/web-image.ts';
import { findBusybox, isStatic } from '../../lib/local/system/busybox.ts';
import { digestOf } from '../../sdk/signing/oci.ts';

const work = mkdtempSync(join(tmpdir(), 'web-image-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const make = () => makeWebImage(findBusybox() ?? '', join(folderOf('hello-web'), 'site'));

test('the same files are the same image', async () => {
  const [one, other] = [await make(), await make()];
  expect(one.descriptor).toEqual(other.descriptor);
  expect(digestOf(one.manifest)).toBe(one.descriptor.digest);
});

test('the image runs as nobody, and its layer holds the server and the site', async () => {
  const { manifest, blobs } = await make();
  const [config, layer] = blobs.map((blob) => ({ blob, digest: digestOf(blob) }));
  expect(JSON.parse(manifest.toString())).toMatchObject({
    config: { digest: config?.digest },
    layers: [{ digest: layer?.digest }],
  });
  const tar = gunzipSync(layer?.blob ?? '');
  expect(JSON.parse(config?.blob.toString() ?? '')).toMatchObject({
    config: { User: '65532:65532', ExposedPorts: { '8080/tcp': {} } },
    rootfs: { diff_ids: [digestOf(tar)] },
  });
  writeFileSync(join(work, 'layer.tar'), tar);
  const listed = execFileSync('tar', ['-tvf', join(work, 'layer.tar'), '--utc', '--numeric-owner'], {
    encoding: 'utf8',
  });
  expect(
    listed
      .trim()
      .split('\n')
      .map((line) => line.replaceAll(/\s+/g, ' ')),
  ).toEqual([
    'drwxr-xr-x 0/0 0 1970-01-01 00:00 bin/',
    expect.stringMatching(/^-rwxr-xr-x 0\/0 \d+ 1970-01-01 00:00 bin\/busybox$/) as string,
    'lrwxr-xr-x 0/0 0 1970-01-01 00:00 bin/sh -> busybox',
    'drwxr-xr-x 0/0 0 1970-01-01 00:00 www/',
    'drwxr-xr-x 0/0 0 1970-01-01 00:00 www/cgi-bin/',
    expect.stringMatching(/^-rwxr-xr-x 0\/0 \d+ 1970-01-01 00:00 www\/cgi-bin\/index\.cgi$/) as string,
    '-rw-r--r-- 0/0 3 1970-01-01 00:00 www/health.txt',
  ]);
});

test('what is chosen at launch is shown as text', () => {
  const script = join(folderOf('hello-web'), 'site', 'cgi-bin', 'index.cgi');
  // The image has it there.
  expect(existsSync('/bin/busybox')).toBe(true);
  const env = { PATH: process.env['PATH'], GREETING: '<script>&', THEME: 'dark' };
  const page = execFileSync('sh', [script], { encoding: 'utf8', env });
  expect(page).toContain('<h1>&lt;script&gt;&amp;</h1>');
  expect(page).toContain('background: #111');
  expect(page).toMatch(/^Content-Type: text\/html; charset=utf-8\r\n\r\n/);
});

test('a program that needs a linker is no static one', () => {
  expect(isStatic(process.execPath)).toBe(false);
  expect(isStatic(import.meta.filename)).toBe(false);
});

test('names that do not fit into an archive are refused', () => {
  expect(() => tarOf([{ kind: 'folder', path: 'x'.repeat(100) }])).toThrow('too long for a tar archive');
});
