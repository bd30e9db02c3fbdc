import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** They start and kill whole platforms, and take longest. */
const LONGEST = 'faults';

/** Otherwise projects run in the order of their names, and in the end all wait for one file that has only just begun. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ project }: TestSpecification): boolean => project.name === LONGEST;
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
