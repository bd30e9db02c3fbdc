import { mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Config, ConfigError, parseConfig } from '../../../agent/config/config.ts';
import { configFile, readConfig, writeConfig } from '../../../agent/config/config-file.ts';
import { NODE } from '../a-task.ts';

const file = {
  url: 'https://platform.test/',
  node_id: NODE,
  name: 'one',
  region: 'us-east-1',
  registry_host: 'registry.test',
  host_key: { kty: 'EC', crv: 'P-256', x: 'x'.repeat(43), y: 'y'.repeat(43), kid: 'k' },
  heartbeat_seconds: 60,
  port_range: { from: 20_000, to: 29_999 },
} as const;

function problemsOf(...words: Parameters<typeof parseConfig>): string[] {
  try {
    parseConfig(...words);
    return [];
  } catch (error) {
    return (error as ConfigError).problems;
  }
}

describe('the configuration', () => {
  test('is what the file says, with what is usual', () => {
    expect(parseConfig(file, {})).toEqual({
      ...file,
      url: 'https://platform.test',
      docker_socket: '/var/run/docker.sock',
      tasks_max: 16,
    });
  });

  test('is what the environment says before what the file does', () => {
    const environment = {
      GPUAAS_AGENT_URL: 'http://127.0.0.1:3000',
      GPUAAS_AGENT_PORT_RANGE: '30000-30100',
      GPUAAS_AGENT_TASKS_MAX: '4',
      GPUAAS_AGENT_DOCKER_SOCKET: '/run/other.sock',
      GPUAAS_AGENT_STATE_DIR: '/elsewhere',
      HOME: '/root',
    };
    expect(parseConfig(file, environment)).toMatchObject({
      url: 'http://127.0.0.1:3000',
      port_range: { from: 30_000, to: 30_100 },
      tasks_max: 4,
      docker_socket: '/run/other.sock',
    });
  });

  test('names every problem at once, and where it is', () => {
    const problems = problemsOf(
      { ...file, node_id: 'seven', heartbeat_seconds: 0 },
      { GPUAAS_AGENT_TASKS_MAX: 'many', GPUAAS_AGENT_PORT_RANGE: '9-1', GPUAAS_AGENT_TASK_MAX: '4' },
    );
    expect(problems).toHaveLength(5);
    expect(problems.join('\n')).toMatch(/GPUAAS_AGENT_TASK_MAX: this variable is not known/);
    expect(problems.join('\n')).toMatch(/GPUAAS_AGENT_TASKS_MAX: /);
    expect(problems.join('\n')).toMatch(/GPUAAS_AGENT_PORT_RANGE: Expected the first port before the last/);
    expect(problems.join('\n')).toMatch(/node_id in config\.json: /);
    expect(problems.join('\n')).toMatch(/heartbeat_seconds in config\.json: /);
  });

  test.each(['http://platform.test', 'ftp://platform.test', 'platform', 'http://127.0.0.1.evil.test'])(
    'refuses to talk to %s',
    (url) => {
      expect(problemsOf({ ...file, url }, {})).not.toEqual([]);
    },
  );

  test('is read back as it was written, by nobody else', () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'agent-'));
    const config: Config = parseConfig(file, {});
    writeConfig(stateDir, config);
    expect(readConfig(stateDir)).toEqual(config);
    expect(statSync(configFile(stateDir)).mode % 0o1000).toBe(0o600);
  });

  test('that is not there says how to join; one that cannot be read says so', () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'agent-'));
    expect(() => readConfig(stateDir)).toThrow(/gpuaas-agent join/);
    writeFileSync(configFile(stateDir), '{');
    expect(() => readConfig(stateDir)).toThrow(/cannot be read/);
    writeFileSync(configFile(stateDir), '7');
    expect(() => readConfig(stateDir)).toThrow(ConfigError);
  });
});
