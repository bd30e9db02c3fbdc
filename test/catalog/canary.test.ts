import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isInCanary } from '../../functions/catalog/canary.ts';

const share = (percent: number) => ({ percent, project_ids: [] });
const percents = fc.double({ min: 0, max: 100, noNaN: true });
const slugs = fc.stringMatching(/^[a-z][a-z0-9]{1,20}$/);

/** Ids that differ in their last digits only, as those of things made together do. */
const projectId = (n: number): string => `0199aaaa-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
const PROJECTS = Array.from({ length: 10_000 }, (_, n) => projectId(n));
const inCanary = (percent: number, slug: string, version: string, projects = PROJECTS): string[] =>
  projects.filter((id) => isInCanary(share(percent), slug, version, id));

describe('who gets a version in canary', () => {
  test('is nobody at nought, everybody at a hundred', () => {
    fc.assert(
      fc.property(slugs, fc.uuid(), (slug, project) => {
        expect(isInCanary(share(0), slug, '1.0.0', project)).toBe(false);
        expect(isInCanary(share(100), slug, '1.0.0', project)).toBe(true);
      }),
    );
  });

  test('only ever grows as the percentage is raised', () => {
    fc.assert(
      fc.property(slugs, fc.uuid(), percents, percents, (slug, project, a, b) => {
        const [less, more] = [Math.min(a, b), Math.max(a, b)];
        if (isInCanary(share(less), slug, '1.0.0', project))
          expect(isInCanary(share(more), slug, '1.0.0', project)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('is whoever is named, whatever the percentage', () => {
    fc.assert(
      fc.property(slugs, fc.uuid(), percents, (slug, project, percent) => {
        expect(isInCanary({ percent, project_ids: [project] }, slug, '1.0.0', project)).toBe(true);
      }),
    );
  });

  test.each([1, 5, 25, 50, 90])('is about %i of a hundred projects', (percent) => {
    for (const slug of ['vllm-openai', 'jupyterlab', 'a-b']) {
      const expected = PROJECTS.length * (percent / 100);
      const deviation = Math.sqrt(expected * (1 - percent / 100));
      const chosen = inCanary(percent, slug, '2.1.0').length;
      expect(Math.abs(chosen - expected)).toBeLessThan(3 * deviation);
    }
  });

  test('is drawn anew for another version and for another app', () => {
    const first = new Set(inCanary(50, 'vllm-openai', '1.0.0'));
    for (const [slug, version] of [
      ['vllm-openai', '1.0.1'],
      ['jupyterlab', '1.0.0'],
    ] as const) {
      const both = inCanary(50, slug, version).filter((id) => first.has(id)).length;
      expect(both).toBeGreaterThan(2_000);
      expect(both).toBeLessThan(3_000);
    }
  });

  test('is the same on every machine and in every release', () => {
    const chosen = inCanary(50, 'vllm-openai', '1.0.0', PROJECTS.slice(0, 10));
    expect(chosen).toEqual([1, 3, 5, 8].map(projectId));
  });
});
