import type { Mutant } from './mutant.ts';

export const promotion: Mutant[] = [
  {
    what: 'a canary is rolled back though no more of its instances fail than may',
    file: 'functions/promotion/canary-guard.ts',
    from: 'tally.failed * 100 > canary.failure_percent_max * tally.observed',
    to: 'tally.failed * 100 >= canary.failure_percent_max * tally.observed',
    noticedBy: ['test/catalog/transition.test.ts'],
  },
  {
    what: 'a canary is judged by fewer instances than it asks for',
    file: 'functions/promotion/canary-guard.ts',
    from: 'tally.observed >= canary.instances_min',
    to: 'tally.observed + 1 >= canary.instances_min',
    noticedBy: ['test/catalog/transition.test.ts'],
  },
  {
    what: 'instances of an earlier canary count towards the one under way',
    file: 'functions/promotion/keep-promotion.ts',
    from: "'canary.began_at <= :at AND attribute_not_exists(canary.ended_at)",
    to: "'(canary.began_at <= :at OR canary.began_at > :at) AND attribute_not_exists(canary.ended_at)",
    noticedBy: ['test/promotion/promotion.test.ts'],
  },
  {
    what: 'the verdict of a smoke run is changed after it was given',
    file: 'functions/promotion/promotion-steps.ts',
    from: "if (promotion?.status !== 'running' || promotion.step !== 'awaiting_smoke')",
    to: "if (promotion?.status !== 'running')",
    noticedBy: ['test/promotion/promotion-property.test.ts'],
  },
  {
    what: 'two steps of one promotion at once overwrite each other',
    file: 'functions/promotion/keep-promotion.ts',
    from: "condition: '#revision = :before'",
    to: "condition: '#revision >= :before'",
    noticedBy: ['test/promotion/promotion-property.test.ts'],
  },
  {
    what: 'a publisher is told which projects have its canary',
    file: 'functions/promotion/promotion-view.ts',
    from: '...(ofPlatform && { project_ids })',
    to: '...{ project_ids }',
    noticedBy: ['test/promotion/promotion.test.ts'],
  },
  {
    what: 'the workflow stages a version without waiting for its smoke run',
    file: 'state-machines/run-promotion.asl.json',
    from: '"Next": "AwaitSmokeVerdict"',
    to: '"Next": "StageSubject"',
    noticedBy: ['test/state-machines.test.ts'],
  },
  {
    what: 'the workflow promotes without passing the gate',
    file: 'state-machines/run-promotion.asl.json',
    from: '"Next": "PassGate"',
    to: '"Next": "GoOnFromThere"',
    noticedBy: ['test/state-machines.test.ts'],
  },
  {
    what: 'a retirement ends while somebody still uses the version',
    file: 'state-machines/run-promotion.asl.json',
    from: '"Next": "AwaitLastInstance"',
    to: '"Next": "PromotionDone"',
    noticedBy: ['test/state-machines.test.ts'],
  },
  {
    what: 'the workflow gives up on a smoke run after one of its two weeks',
    file: 'state-machines/run-promotion.asl.json',
    from: '"TimeoutSeconds": 1209600',
    to: '"TimeoutSeconds": 604800',
    noticedBy: ['test/promotion/promotion.test.ts'],
  },
];
