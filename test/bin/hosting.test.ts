import { describe, expect, test } from 'vitest';
import { describeHost, whyHostless } from '../../bin/local/hosting.ts';
import type { Demo } from '../../bin/local/seed-demo.ts';

const demo: Demo = {
  org_id: 'o',
  project_id: 'p',
  app_slug: 'hello-web',
  app_version: '1.0.0',
  app_status: 'active',
  signing: { key: '', chain: '' },
};

describe('a machine is no host of its own platform', () => {
  test.each([
    ['if nobody wants it to be', false, 'unix:///run/docker.sock', '/usr/sbin/nft', /--no-host/],
    ['without a container engine', true, null, '/usr/sbin/nft', /no container engine/],
    ['without nft, which keeps containers apart', true, 'unix:///run/docker.sock', undefined, /nftables/],
  ])('%s, and says so', (_, isWanted, docker_host, nft, reason) => {
    expect(whyHostless(isWanted, { docker_host }, nft)).toMatch(reason);
  });

  test('otherwise it is one', () => {
    const docker_host = 'unix:///run/docker.sock';
    expect(whyHostless(true, { docker_host }, '/usr/sbin/nft')).toBeUndefined();
  });
});

describe('the start tells', () => {
  test.each<[string, Partial<Demo>, RegExp]>([
    [
      'which node this machine is, and what of it the project holds',
      { node_id: 'n', sku: 's', allocation_id: 'a' },
      /node n; the project holds a s/,
    ],
    ['that nothing of it is allocated', { node_id: 'n' }, /nothing of it is allocated/],
    ['that it could not join', {}, /could not join/],
  ])('%s', (_, more, told) => {
    expect(describeHost({ ...demo, ...more })).toMatch(told);
  });
});
