import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ACCOUNT, REGION } from '../../../lib/local/wire/aws.ts';
import { openJournal, type Journal } from '../../../lib/local/journal/journal.ts';
import { Functions, type FunctionSpec, type FunctionsOptions } from '../../../lib/local/lambda/functions.ts';
import { Principals } from '../../../lib/local/iam/principals.ts';

export const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

export function functionSpec(spec: Partial<FunctionSpec> & { name: string }): FunctionSpec {
  return {
    arn: `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${spec.name}`,
    roleArn: roleArn(spec.name),
    codeDir: fixture('probe'),
    handler: 'index.handler',
    environment: {},
    timeoutSeconds: 5,
    memoryMb: 128,
    asyncRetriesMax: 2,
    asyncAgeSecondsMax: 3600,
    ...spec,
  };
}

export const roleArn = (name: string) => `arn:aws:iam::${ACCOUNT}:role/${name}-role`;

/** A folder, a journal in it and functions over both; what a test needs besides, it makes itself. */
export class LambdaWorld {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'lambda-'));
  readonly logDir = join(this.dataDir, 'logs');
  readonly journal: Journal = openJournal(this.dataDir);
  readonly principals = new Principals(randomBytes(32), () => this.endpoint);
  endpoint = 'http://127.0.0.1:1';
  #functions: Functions[] = [];

  functions(options: Partial<FunctionsOptions> = {}): Functions {
    const { principals, journal, logDir } = this;
    const deliver = () => Promise.reject(new Error('this world has no destinations'));
    const functions = new Functions({
      principals,
      journal,
      logDir,
      deliver,
      endpoint: () => this.endpoint,
      ...options,
    });
    this.#functions.push(functions);
    return functions;
  }

  file(name: string): string {
    return join(this.dataDir, name);
  }

  log(functionName: string): string {
    return readFileSync(join(this.logDir, `${functionName}.log`), 'utf8');
  }

  async close(): Promise<void> {
    await Promise.all(this.#functions.map((functions) => functions.stop()));
    this.journal.close();
    rmSync(this.dataDir, { recursive: true });
  }
}

export interface Recorded<Event> {
  requestId: string;
  atMs: number;
  event: Event;
}

export interface Recorder {
  spec: FunctionSpec;
  invocations: <Event = unknown>() => Recorded<Event>[];
}

/** A function that writes down what it is given; still to be put. */
export function recorder(
  world: LambdaWorld,
  name: string,
  environment: Record<string, string> = {},
  more: Partial<FunctionSpec> = {},
): Recorder {
  const file = world.file(`${name}.jsonl`);
  const spec = functionSpec({
    name,
    codeDir: fixture('recorder'),
    environment: { RECORD_FILE: file, ...environment },
    ...more,
  });
  return { spec, invocations: <Event>() => recorded<Event>(file) };
}

/** What the recorder function has written down so far. */
export function recorded<Event = unknown>(file: string): Recorded<Event>[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Recorded<Event>);
}
