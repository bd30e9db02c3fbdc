import type { Mutant } from './mutant.ts';

export const retention: Mutant[] = [
  {
    what: 'the signatures of an image that stays are removed',
    file: 'functions/retention/garbage.ts',
    from: 'for (const subject of subjectsOf(image)) lead(subject, image.digest);',
    to: '',
    noticedBy: ['test/retention/garbage.test.ts'],
  },
  {
    what: 'what somebody has signed a moment ago is removed before they register it',
    file: 'functions/retention/garbage.ts',
    from: 'for (const subject of subjectsOf(image)) staying.add(subject);',
    to: '',
    noticedBy: ['test/retention/garbage.test.ts'],
  },
  {
    what: 'the platform is told that images will be removed which artifacts need',
    file: 'functions/retention/find-garbage.ts',
    from: '    images: judgedWith(needed),\n',
    to: '    images: judgedWith([]),\n',
    noticedBy: ['test/retention/garbage-collection.test.ts'],
  },
  {
    what: 'an image is removed that was registered a moment ago',
    file: 'functions/retention/collect-garbage.ts',
    from: 'without(await registeredAfterAll(repository, digests))',
    to: 'without([])',
    noticedBy: ['test/retention/garbage-collection.test.ts'],
  },
  {
    what: 'images are removed before it is written down that they will be',
    file: 'functions/retention/collect-garbage.ts',
    from: `      await tell(ctx, repository, part);
      await remove(repository, part);`,
    to: `      await remove(repository, part);
      await tell(ctx, repository, part);`,
    noticedBy: ['test/retention/garbage-collection.test.ts'],
  },
  {
    what: 'a draft that a version names is forgotten',
    file: 'functions/retention/forget-draft.ts',
    from: "if (isBound(bound, artifact) || promotion?.status === 'running') {",
    to: "if (promotion?.status === 'running') {",
    noticedBy: ['test/retention/maintenance.test.ts'],
  },
  {
    what: 'forgetting a draft that is being promoted is tried in vain, run after run, instead of another day',
    file: 'functions/retention/forget-draft.ts',
    from: "if (isBound(bound, artifact) || promotion?.status === 'running') {",
    to: 'if (isBound(bound, artifact)) {',
    noticedBy: ['test/retention/maintenance.test.ts'],
  },
  {
    what: 'a draft that is gone is told as a failure while an index still lists it',
    file: 'functions/retention/forget-draft.ts',
    from: `    if (!found) return undefined;
`,
    to: "    if (!found) throw new Error('The artifact is gone.');\n",
    noticedBy: ['test/retention/maintenance.test.ts'],
  },
  {
    what: 'an artifact that was verified a moment ago is put off by whoever read it before',
    file: 'functions/retention/due-store.ts',
    from: "condition: 'gsi1sk <= :now'",
    to: "condition: 'gsi1sk <= :now OR attribute_exists(pk)'",
    noticedBy: ['test/retention/maintenance.test.ts'],
  },
  {
    what: 'nobody hears that an artifact has lost its trust',
    file: 'functions/retention/reverify-artifact.ts',
    from: 'const records = isNews ?',
    to: "const records = isNews && verification.verdict === 'verified' ?",
    noticedBy: ['test/retention/maintenance.test.ts'],
  },
];
