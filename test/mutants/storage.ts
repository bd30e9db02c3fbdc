import type { Mutant } from './mutant.ts';

export const storage: Mutant[] = [
  {
    what: 'an intent is opened in a repository that is just being cleaned',
    file: 'functions/storage/keep-repository.ts',
    from: '(project_id = :project AND (${NOT_COLLECTING}))',
    to: '(project_id = :project AND created_at <= :now)',
    noticedBy: ['test/retention/garbage-collection.test.ts'],
  },
  {
    what: 'a repository is cleaned while somebody may be pushing there',
    file: 'functions/storage/keep-repository.ts',
    from: '`open_until < :now AND (',
    to: '`(',
    noticedBy: ['test/retention/garbage-collection.test.ts'],
  },
  {
    what: 'a registry that fails for a moment is taken for one without the image',
    file: 'functions/storage/registry-client.ts',
    from: 'answer.status === 500 && (await hasBlob(digest))',
    to: 'answer.status >= 500',
    noticedBy: ['test/storage/hostile-registry.test.ts'],
  },
  {
    what: 'a blob without end fills the memory of the function',
    file: 'functions/storage/registry-client.ts',
    from: "if (bytes > bytesMax) return 'too_long';",
    to: '',
    noticedBy: ['test/storage/hostile-registry.test.ts'],
  },
  {
    what: 'an error of the object store without end fills the memory of the function',
    file: 'functions/storage/object-client.ts',
    from: 'if (!isFile) answer.body = bounded(answer.body);',
    to: '',
    noticedBy: ['test/storage/hostile-bucket.test.ts'],
  },
  {
    what: 'a listing of other objects than were asked for is taken for one of those',
    file: 'functions/storage/object-versions.ts',
    from: 'files.some(({ key }) => !key.startsWith(prefix))',
    to: 'files.some(({ key }) => !key)',
    noticedBy: ['test/storage/hostile-bucket.test.ts'],
  },
];
