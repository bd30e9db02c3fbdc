import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { openJournal } from '../../../agent/journal/journal.ts';

const BUSY = join(import.meta.dirname, 'busy-process.ts');

test.each([5, 20, 60])(
  'after a kill -9 in the middle of the work everything said is there (%d lines)',
  async (many) => {
    const stateDir = mkdtempSync(join(tmpdir(), 'agent-'));
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', BUSY, stateDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const said: string[] = [];
    const ended = once(child, 'close');
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(line);
      if (said.length === many) child.kill('SIGKILL');
    }
    await ended;
    const journal = openJournal(stateDir, () => new Date());
    const reports = journal.reports.list(10_000).map(({ path }) => path);
    for (const line of said) {
      const [what, id = ''] = line.split(' ');
      const task = journal.tasks.find(id);
      expect(task, line).toBeDefined();
      if (what !== 'ended') continue;
      expect(task?.outcome?.status).toBe('succeeded');
      // Outcome and report are one: a task that ended has its report.
      expect(reports).toContain(`/${id}`);
    }
    expect(journal.tasks.unended().length).toBeLessThanOrEqual(1);
    journal.close();
  },
);
