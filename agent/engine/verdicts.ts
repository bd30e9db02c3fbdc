// Which images were found to be trusted, by which state of trust: judged once for each, over restarts too.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as v from 'valibot';

/** The oldest are judged again. */
const VERDICTS_MAX = 500;

const Verdict = v.object({
  /** Where the image was found; with it the engine finds it again without asking the platform. */
  registry_host: v.string(),
  trust_revision: v.number(),
  valid_until: v.string(),
});
export type Verdict = v.InferOutput<typeof Verdict>;

const File = v.record(v.string(), Verdict);

/** Only verdicts that hold are kept: what was refused may be signed a moment later. */
export class Verdicts {
  #file: string;
  #kept: Map<string, Verdict>;

  constructor(file: string) {
    this.#file = file;
    this.#kept = new Map(Object.entries(read(file)));
  }

  find(image: string, trustRevision: number, now: Date): Verdict | undefined {
    const verdict = this.#kept.get(image);
    const holds = verdict?.trust_revision === trustRevision && new Date(verdict.valid_until) > now;
    return holds ? verdict : undefined;
  }

  keep(image: string, verdict: Verdict): void {
    this.#kept.delete(image);
    this.#kept.set(image, verdict);
    const newest = [...this.#kept].slice(-VERDICTS_MAX);
    this.#kept = new Map(newest);
    const part = `${this.#file}.part`;
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    writeFileSync(part, JSON.stringify(Object.fromEntries(newest)), { mode: 0o600 });
    renameSync(part, this.#file);
  }
}

/** What cannot be read is judged again. */
function read(file: string): v.InferOutput<typeof File> {
  try {
    const parsed = v.safeParse(File, JSON.parse(readFileSync(file, 'utf8')));
    return parsed.success ? parsed.output : {};
  } catch {
    return {};
  }
}
