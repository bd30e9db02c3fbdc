import { describe, expect, test } from 'vitest';
import * as v from 'valibot';
import { type Payload, payloadSchema } from '../../functions/tasks/task.ts';
import {
  findUnassigned,
  hearStatus,
  imagesOf,
  isNews,
  planLaunch,
  planNext,
  type Workload,
} from '../../functions/tasks/workload.ts';

const NOW = new Date('2026-01-01T00:00:00.000Z');
const ID = '01a1eee6-7981-7238-9322-17f29cafee7b';
const OTHER = '01a1eee6-7981-7238-9322-17f29cafee7c';
const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const image = (letter: string, repository = 'gpuaas/apps/team/app') => ({
  repository,
  digest: digest(letter),
  publisher_project_id: 'publisher',
});

const launch = (letter: string, stated: object = {}): Payload<'oci.launch'> =>
  v.parse(payloadSchema('oci.launch'), {
    workload_id: ID,
    allocation_id: ID,
    org_id: ID,
    project_id: ID,
    container: { name: 'app', repository: 'gpuaas/apps/team/app', digest: digest(letter) },
    ...stated,
  });

const planned = (letter = 'a'): Workload =>
  planLaunch(undefined, ID, { payload: launch(letter), images: [image(letter)] }, NOW);

const codeOf = (work: () => unknown): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('a launch', () => {
  test('begins a workload at the first number', () => {
    expect(planned()).toMatchObject({ desired: 'present', fence: 1, first_fence: 1, engine: 'oci' });
  });

  test('in place of another keeps both images until it has succeeded', () => {
    const again = planLaunch(planned('a'), ID, { payload: launch('b'), images: [image('b')] }, NOW);
    expect(again).toMatchObject({ fence: 2, first_fence: 1 });
    expect(imagesOf([again]).map((each) => each.digest)).toEqual([digest('b'), digest('a')]);
  });

  test('names no image that is not known, and says which one', () => {
    const { container, ...rest } = launch('a');
    const payload = v.parse(payloadSchema('compose.up'), {
      ...rest,
      containers: [container, { ...container, name: 'db', digest: digest('b') }],
    });
    expect(() => planLaunch(undefined, ID, { payload, images: [image('a')] }, NOW)).toThrow(
      expect.objectContaining({
        code: 'task.image_unknown',
        faults: [expect.objectContaining({ pointer: '/payload/containers/1' })],
      }) as Error,
    );
    const elsewhere = { payload: launch('a'), images: [image('a', 'gpuaas/apps/team/other')] };
    expect(codeOf(() => planLaunch(undefined, ID, elsewhere, NOW))).toBe('task.image_unknown');
  });

  test.each([
    ['workload.exists', planned(), { allocation_id: OTHER }],
    ['workload.exists', planned(), { project_id: OTHER }],
    ['workload.exists', { ...planned(), engine: 'compose' as const }, {}],
    ['workload.leaving', { ...planned(), desired: 'absent' as const }, {}],
  ])('is refused with %s', (code, before, stated) => {
    const again = { payload: launch('a', stated), images: [image('a')] };
    expect(codeOf(() => planLaunch(before, ID, again, NOW))).toBe(code);
  });
});

describe('a task about a workload', () => {
  test.each([
    ['look', 'oci', 'present', undefined],
    ['look', 'any', 'absent', undefined],
    ['control', 'any', 'present', undefined],
    ['control', 'any', 'absent', 'workload.leaving'],
    ['remove', 'oci', 'present', undefined],
    ['remove', 'oci', 'absent', undefined],
    ['remove', 'compose', 'present', 'workload.other_engine'],
  ] as const)('that is to %s at %s, of one that is to be %s: %s', (kind, engine, desired, code) => {
    const before: Workload = { ...planned(), desired };
    expect(codeOf(() => planNext(before, kind, engine, NOW))).toBe(code);
    if (code === undefined)
      expect(planNext(before, kind, engine, NOW)).toMatchObject({
        fence: 2,
        desired: kind === 'remove' ? 'absent' : desired,
      });
  });

  test('that is not there is refused', () => {
    expect(codeOf(() => planNext(undefined, 'look', 'any', NOW))).toBe('workload.unknown');
  });
});

describe('what a host says', () => {
  const said = (fence: number, at: string, state: 'ready' | 'failed' = 'ready') => ({
    fence,
    state,
    containers: [],
    at: `2026-01-01T00:00:${at}.000Z`,
  });
  const heard = (fence: number, last?: ReturnType<typeof said>): Workload => ({
    ...planned(),
    fence,
    ...(last && { status: last }),
  });

  test.each([
    ['heard', heard(1), said(1, '01')],
    ['workload.fenced', heard(1), said(2, '01')],
    ['heard', heard(3), said(2, '01')],
    ['workload.fenced', heard(3, said(2, '01')), said(1, '02')],
    ['heard', heard(3, said(2, '05')), said(3, '01')],
    ['old', heard(3, said(2, '02')), said(2, '01')],
    ['old', heard(3, said(2, '02')), said(2, '02', 'failed')],
    ['heard', heard(3, said(2, '02')), said(2, '03')],
  ])('is %s', (verdict, before, status) => {
    const code = codeOf(() => hearStatus(before, status, NOW));
    if (verdict === 'workload.fenced') return expect(code).toBe(verdict);
    const after = hearStatus(before, status, NOW);
    expect(after === 'old' ? 'old' : 'heard').toBe(verdict);
    if (after !== 'old') expect(after.status).toEqual(status);
  });

  test('is news unless it was said before', () => {
    const before = heard(2, said(1, '01'));
    expect(isNews(before, heard(2, said(2, '02')))).toBe(false);
    expect(isNews(before, heard(2, said(2, '02', 'failed')))).toBe(true);
    expect(isNews(heard(2), before)).toBe(true);
  });
});

test('only repositories of what is assigned are assigned', () => {
  const workloads = [planned(), { ...planned(), images: [image('a', 'gpuaas/apps/team/other')] }];
  const asked = [
    'gpuaas/apps/team/app',
    'gpuaas/apps/team/other',
    'gpuaas/apps/team/ap',
    'gpuaas/apps/team/*',
  ];
  expect(findUnassigned(workloads, asked)).toEqual(['gpuaas/apps/team/ap', 'gpuaas/apps/team/*']);
});
