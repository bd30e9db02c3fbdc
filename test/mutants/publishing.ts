import type { Mutant } from './mutant.ts';

export const publishing: Mutant[] = [
  {
    what: 'a credential is unwrapped as often as people try at once',
    file: 'functions/publishing/intent-store.ts',
    from: "condition: '#status = :open',",
    to: "condition: '#status = :open OR #status = :unwrapped',",
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
    what: 'a credential lets its holder push to the repositories of others',
    file: 'functions/publishing/mint-credential.ts',
    from: 'Action: PUSH, Resource: repositoryArn,',
    to: "Action: PUSH, Resource: '*',",
    noticedBy: ['test/publishing/intent.test.ts'],
  },
  {
    what: 'a credential for a minute pushes for a quarter of an hour',
    file: 'functions/publishing/mint-credential.ts',
    from: 'Action: PUSH, Resource: repositoryArn, Condition }',
    to: 'Action: PUSH, Resource: repositoryArn }',
    noticedBy: ['test/publishing/intent.test.ts'],
  },
  {
    what: 'an intent is made where the project was archived at that moment',
    file: 'functions/publishing/intent-store.ts',
    from: "{ condition: '#status = :active', names: { '#status': 'status' }, values: { ':active': 'active' } }",
    to: "{ condition: 'attribute_exists(pk)' }",
    noticedBy: ['test/publishing/intent.test.ts'],
  },
  {
    what: 'a repository counts as quiet while the last credential for it still pushes',
    file: 'functions/publishing/intent.ts',
    from: 'secondsAfter(new Date(open_until), CREDENTIAL_SECONDS.most)',
    to: 'secondsAfter(new Date(open_until), 0)',
    noticedBy: ['test/publishing/intent.test.ts'],
  },
  {
    what: 'an intent is opened in a repository that is just being cleaned',
    file: 'functions/publishing/intent-store.ts',
    from: '(project_id = :project AND (attribute_not_exists(collecting_until) OR collecting_until < :now))',
    to: '(project_id = :project AND created_at <= :now)',
    noticedBy: ['test/retention/garbage-collection.test.ts'],
  },
];
