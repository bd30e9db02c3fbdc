import { expect, inject, test } from 'vitest';
import { shellBlocksOf } from '../docs/shell-blocks.ts';
import { runCommands } from './run-documents.ts';

// What people copy from the documents works, in the order it is written there.

const ready = inject('platform');

/** The commands of a page that contain this. */
function commandsOf(page: string, ...marks: string[]): string {
  const blocks = shellBlocksOf(page).map(({ commands }) => commands);
  const chosen = marks.map((mark) => blocks.find((block) => block.includes(mark)));
  expect(chosen).not.toContain(undefined);
  return chosen.join('\n');
}

test('README.md: the first five minutes', async () => {
  expect(await runCommands(commandsOf('README.md', 'npm run selftest'))).toContain(ready.demo.app_slug);
}, 120_000);

test('docs/guides/catalogue.md: from the catalogue to an entitlement, and a dry run', async () => {
  const commands = commandsOf('docs/guides/catalogue.md', 'entitlements', 'manifests/validate');
  const printed = await runCommands(commands);
  expect(printed).toContain('"entitled":true');
  expect(printed).toContain('"valid":true');
}, 120_000);

test.skipIf(ready.docker_host === null || ready.registry === null)(
  'docs/guides/artifacts.md: an image and a file are published and verified',
  async () => {
    const printed = await runCommands(commandsOf('docs/guides/artifacts.md', 'publish-intents'));
    expect(printed.match(/"trust_state":"verified"/g)).toHaveLength(2);
  },
  180_000,
);

test.skipIf(ready.docker_host === null)(
  'docs/guides/hosts.md: a node is created, looked at, cordoned and uncordoned, and capacity is read',
  async () => {
    const marks = ['export ADMIN', 'rack-7', 'placement/explain', '/allocations"', '/cordon"'];
    const printed = await runCommands(commandsOf('docs/guides/hosts.md', ...marks));
    expect(printed).toContain('"join_command"');
    expect(printed).toContain('"placement":"cordoned"');
    expect(printed).toContain('"sku":"cpu-small"');
  },
  120_000,
);

test('docs/events.md: the feed is read', async () => {
  const token = await runCommands('npm run -s token -- owner@example.com');
  const env = { API_BASE_URL: ready.api_url, PROJECT_ID: ready.demo.project_id, TOKEN: token.trim() };
  const read = commandsOf('docs/events.md', 'limit=20').replace(/^.*\$CURSOR.*$/m, '');
  expect(await runCommands(read, env)).toContain('"next_cursor"');
});
