import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 20;

/** The files that took longest, at the end of every run: what grows is seen before it hurts. */
export class Slowest implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({
      name: relative(process.cwd(), module.moduleId),
      ...cost(module),
    }));
    const total = files.reduce((sum, { seconds }) => sum + seconds, 0);
    const shown = files.sort((a, b) => b.seconds - a.seconds).slice(0, SHOWN);
    const rows = shown.map(
      ({ name, seconds, tests }) => `${seconds.toFixed(1).padStart(7)} s  ${name} (${tests} tests)`,
    );
    process.stdout.write(
      `\nThe slowest of ${files.length} files, which took ${total.toFixed(0)} s together:\n${rows.join('\n')}\n`,
    );
  }
}

function cost(module: TestModule): { seconds: number; tests: number } {
  const { collectDuration, setupDuration, prepareDuration, environmentSetupDuration, duration } =
    module.diagnostic();
  const ms = collectDuration + setupDuration + prepareDuration + environmentSetupDuration + duration;
  return { seconds: ms / 1000, tests: [...module.children.allTests()].length };
}
