import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Dockerode from 'dockerode';
import { beforeEach, describe, expect, test } from 'vitest';
import { localChecks } from '../../../agent/host/checks.ts';
import { diagnose, formatDiagnosis, isHealthy, problemsOf } from '../../../agent/host/doctor.ts';
import type { RunTool } from '../../../agent/host/run-tool.ts';
import { ensureNodeKey, keyFile } from '../../../agent/platform/node-key.ts';
import { A100_CSV, A100_LIST, TOOLKIT } from './tool-output.ts';

let stateDir: string;
const nobody = new Dockerode({ socketPath: '/nowhere/docker.sock' });

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'agent-'));
});

/** A host on which these tools say this, and others are not there. */
const tools =
  (said: Record<string, string>): RunTool =>
  (command, words) =>
    Promise.resolve(said[`${command} ${words[0] ?? ''}`.replace(/=.*/, '')]);

async function look(name: string, said: Record<string, string> = {}) {
  const found = await diagnose(localChecks(nobody, stateDir, tools(said)));
  return found.find((each) => each.name === name);
}

describe('doctor', () => {
  test('wants an engine, and limits it can set', async () => {
    expect(await look('engine')).toMatchObject({
      status: 'failed',
      advice: expect.stringContaining('systemctl'),
    });
    expect(await look('cgroups')).toMatchObject({ status: 'failed' });
  });

  test('wants nftables', async () => {
    expect(await look('nftables')).toMatchObject({
      status: 'failed',
      advice: expect.stringContaining('nftables'),
    });
    expect(await look('nftables', { 'nft list': '' })).toMatchObject({ status: 'ok' });
  });

  test('wants a key that nobody else can read', async () => {
    expect(await look('key')).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('does not exist'),
    });
    ensureNodeKey(stateDir);
    expect(await look('key')).toMatchObject({ status: 'ok' });
    chmodSync(keyFile(stateDir), 0o640);
    expect(await look('key')).toMatchObject({ status: 'failed', advice: expect.stringContaining('600') });
  });

  test('wants no toolkit through which containers get out, and none at all without GPUs', async () => {
    const gpus = { 'nvidia-smi --query-gpu': A100_CSV, 'nvidia-smi -L': A100_LIST };
    expect(await look('toolkit')).toMatchObject({ status: 'ok' });
    expect(await look('toolkit', { ...gpus, 'nvidia-ctk --version': TOOLKIT })).toMatchObject({
      status: 'ok',
    });
    const old = TOOLKIT.replace('1.17.8', '1.16.1');
    expect(await look('toolkit', { ...gpus, 'nvidia-ctk --version': old })).toMatchObject({
      status: 'failed',
      detail: expect.stringMatching(/CVE-2024-0132.*CVE-2025-23266/),
    });
  });

  test('goes on when a check itself goes wrong, and says so', async () => {
    const broken = { name: 'broken', look: () => Promise.reject(new Error('no such thing')) };
    const fine = { name: 'fine', look: () => ({ status: 'ok', detail: 'as it should be' }) as const };
    const found = await diagnose([broken, fine]);
    expect(isHealthy(found)).toBe(false);
    expect(problemsOf(found)).toEqual(['broken: no such thing']);
    expect(found.map(formatDiagnosis).join('\n')).toContain('ok    fine: as it should be');
  });

  test('takes a host with nothing but warnings for healthy', () => {
    expect(isHealthy([{ name: 'disk', status: 'warning', detail: 'little' }])).toBe(true);
  });
});

test('a key that was there stays', () => {
  const first = ensureNodeKey(stateDir).export({ type: 'pkcs8', format: 'pem' });
  expect(ensureNodeKey(stateDir).export({ type: 'pkcs8', format: 'pem' })).toEqual(first);
  writeFileSync(keyFile(stateDir), 'no key');
  expect(() => ensureNodeKey(stateDir)).toThrow(/PEM|unsupported|decoder/i);
});
