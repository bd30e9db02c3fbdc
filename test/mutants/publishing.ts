import type { Mutant } from './mutant.ts';

export const publishing: Mutant[] = [
  {
    what: 'a credential is unwrapped as often as people try at once',
    file: 'functions/publishing/intent-store.ts',
    from: "REMOVE gsi1pk, gsi1sk',\n    condition: '#status = :open',",
    to: "REMOVE gsi1pk, gsi1sk',\n    condition: '#status = :open OR #status = :unwrapped',",
    noticedBy: ['test/publishing/intent.test.ts'],
  },
  {
    what: 'the wrapping token is kept in clear beside its hash',
    file: 'functions/publishing/create-intent.ts',
    from: 'token_hash: tokenHash }',
    to: 'token_hash: tokenHash, wrapping_token: token }',
    noticedBy: ['test/publishing/intent.test.ts'],
  },
  {
    what: 'who does not have the token learns that the credential was unwrapped',
    file: 'functions/publishing/intent.ts',
    from: `  if (!isTokenRight) return 'intent.wrong_token';
  if (intent.status === 'unwrapped') return 'intent.unwrapped';`,
    to: `  if (intent.status === 'unwrapped') return 'intent.unwrapped';
  if (!isTokenRight) return 'intent.wrong_token';`,
    noticedBy: ['test/publishing/intent.test.ts'],
  },
  {
    what: 'an intent can be used at the very moment it ends',
    file: 'functions/publishing/intent.ts',
    from: 'open_until <= now.toISOString()',
    to: 'open_until < now.toISOString()',
    noticedBy: ['test/publishing/intent.test.ts'],
  },
  {
    what: 'the owner of an intent does not hear that somebody tried to unwrap it in vain',
    file: 'functions/publishing/unwrap-credential.ts',
    from: 'events: [UnwrapRefused(intent, code)]',
    to: 'events: []',
    noticedBy: ['test/publishing/intent.test.ts'],
  },
  {
    what: 'clients that look for the manifest before they push it cannot push',
    file: 'functions/publishing/mint-credential.ts',
    from: "const PUSH = [\n  'ecr:BatchGetImage',",
    to: 'const PUSH = [',
    noticedBy: ['test/publishing/intent.test.ts', 'test/publishing/push.test.ts'],
  },
  {
    what: 'a credential lets its holder push to the repositories of others',
    file: 'functions/publishing/mint-credential.ts',
    from: 'repositories: [repository],',
    to: "repositories: ['*'],",
    noticedBy: ['test/publishing/intent.test.ts'],
  },
  {
    what: 'a credential for a minute pushes for a quarter of an hour',
    file: 'functions/publishing/mint-credential.ts',
    from: '    endsAt: credential_expires_at,\n',
    to: '',
    noticedBy: ['test/publishing/intent.test.ts'],
  },
  {
    what: 'an intent of another project is shown',
    file: 'functions/publishing/intent-store.ts',
    from: "if (item?.['project_id'] !== projectId)",
    to: 'if (!item)',
    noticedBy: ['test/publishing/intent.test.ts'],
  },
  {
    what: 'an intent whose credential was unwrapped at the last moment counts as expired',
    file: 'functions/publishing/intent-store.ts',
    from: "token_hash',\n    condition: '#status = :open',",
    to: "token_hash',\n    condition: '#status = :open OR #status <> :expired',",
    noticedBy: ['test/publishing/expire-intents.test.ts'],
  },
  {
    what: 'intents of one project stand in each other’s way, because they count themselves in its row',
    file: 'functions/publishing/intent-store.ts',
    from: 'putNew({ ...intentKey(id), ...intent, gsi1pk: OPEN_INTENTS, gsi1sk: open_until })',
    to: "putNew({ ...intentKey(id), ...intent, gsi1pk: OPEN_INTENTS, gsi1sk: open_until }),\n    update({ pk: `PROJECT#${project_id}`, sk: 'PROJECT' }, { update: 'ADD intent_count :one', values: { ':one': 1 } })",
    noticedBy: ['test/publishing/intent.test.ts'],
  },
  {
    what: 'a repository counts as quiet while the last credential for it still pushes',
    file: 'functions/publishing/intent.ts',
    from: 'secondsAfter(new Date(open_until), CREDENTIAL_SECONDS.most)',
    to: 'secondsAfter(new Date(open_until), 0)',
    noticedBy: ['test/publishing/intent.test.ts'],
  },
];
