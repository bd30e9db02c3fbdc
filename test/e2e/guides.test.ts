import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';

// What people copy from the documents works, in the order it is written there.

const ROOT = join(import.meta.dirname, '..', '..');
const ready = inject('platform');
const data = dirname(ready.aws_credentials_file);

/** A refused request ends the script, and the npm scripts are those of the platform under test. */
const PRELUDE = `
curl() { command curl --fail-with-body "$@"; }
script() { node --disable-warning=ExperimentalWarning "bin/$1.ts" "\${@:2}" --data '${data}'; }
npm() {
  case "$*" in
    'run -s token -- '*) script token "\${@:5}" ;;
    'run selftest') script selftest ;;
    *) echo "npm $* is not run here" >&2; return 1 ;;
  esac
}
`;

/** The commands of a page that contain this, for the platform under test. */
function commandsOf(page: string, ...marks: string[]): string {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  const chosen = marks.map((mark) => blocks.find((block) => block.includes(mark)));
  expect(chosen).not.toContain(undefined);
  return chosen
    .join('\n')
    .replaceAll('http://127.0.0.1:4280', ready.api_url)
    .replaceAll('./.data/', `${data}/`);
}

/** What the commands print. */
async function run(script: string, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-ceuo', 'pipefail', PRELUDE + script], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout;
}

test('README.md: the first five minutes', async () => {
  expect(await run(commandsOf('README.md', 'npm run selftest'))).toContain(ready.demo.app_slug);
}, 120_000);

test('docs/guides/catalogue.md: from the catalogue to an entitlement, and a dry run', async () => {
  const printed = await run(commandsOf('docs/guides/catalogue.md', 'entitlements', 'manifests/validate'));
  expect(printed).toContain('"entitled":true');
  expect(printed).toContain('"valid":true');
}, 120_000);

test.skipIf(ready.docker_host === null || ready.registry === null)(
  'docs/guides/artifacts.md: an image and a file are published and verified',
  async () => {
    const printed = await run(commandsOf('docs/guides/artifacts.md', 'publish-intents'));
    expect(printed.match(/"trust_state":"verified"/g)).toHaveLength(2);
  },
  180_000,
);

test('docs/events.md: the feed is read', async () => {
  const token = await run('npm run -s token -- owner@example.com');
  const env = { API_BASE_URL: ready.api_url, PROJECT_ID: ready.demo.project_id, TOKEN: token.trim() };
  const read = commandsOf('docs/events.md', 'limit=20').replace(/^.*\$CURSOR.*$/m, '');
  expect(await run(read, env)).toContain('"next_cursor"');
});
