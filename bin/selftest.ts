import { painter, endLines, hopLine } from './selftest/report.ts';
import { type CliOptions, parseOptions, USAGE } from './selftest/options.ts';
import { runSelftest } from './selftest/run-selftest.ts';
import { reasonOf } from './selftest/selftest-api.ts';
import { deployedTarget, localTarget, NoTarget } from './selftest/target.ts';
import { deniedSince } from './selftest/where-to-look.ts';

const PASSED = 0;
const FAILED = 1;
const MISUSED = 2;

const say = (line: string) => process.stdout.write(`${line}\n`);
const complain = (line: string) => process.stderr.write(`${line}\n`);

async function test(options: CliOptions): Promise<number> {
  const target = options.url ? await deployedTarget(options.url) : localTarget(options.readyFile);
  const version = await readVersion(target.apiUrl);
  const paint = painter(process.stdout.isTTY && !process.env.NO_COLOR);
  const tell = options.json ? () => {} : say;

  tell(`Self-test of ${target.apiUrl}, version ${version}\n`);
  const begunMs = Date.now();
  const outcome = await runSelftest({
    ...target,
    timeoutSeconds: options.timeoutSeconds,
    onHop: (hop) => tell(hopLine(hop, paint)),
  });
  const denials = outcome.passed || options.url ? [] : deniedSince(options.logDir, begunMs);
  for (const line of endLines(outcome, denials, paint)) tell(line);
  if (options.json) say(JSON.stringify(outcome, null, 2));
  return outcome.passed ? PASSED : FAILED;
}

async function readVersion(apiUrl: string): Promise<string> {
  try {
    const response = await fetch(new URL('/api/v1/health', apiUrl), { signal: AbortSignal.timeout(10_000) });
    const { version } = (await response.json()) as { version?: string };
    if (response.ok && version) return version;
    throw new NoTarget(`${apiUrl} answers, but is not the platform (status ${response.status}).`);
  } catch (error) {
    if (error instanceof NoTarget) throw error;
    throw new NoTarget(
      `Nothing answers at ${apiUrl} (${reasonOf(error)}). Is the platform running? “npm start” starts it here.`,
    );
  }
}

const options = parseOptions(process.argv.slice(2));
if ('help' in options) say(options.help);
else if ('error' in options) {
  complain(`${options.error}\n\n${USAGE}`);
  process.exitCode = MISUSED;
} else {
  process.exitCode = await test(options).catch((error: unknown) => {
    if (!(error instanceof NoTarget)) throw error;
    complain(error.message);
    return FAILED;
  });
}
