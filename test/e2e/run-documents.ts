import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';

// Runs what people copy from the documents, on the platform under test.

const ROOT = join(import.meta.dirname, '..', '..');
const ready = inject('platform');
const data = dirname(ready.aws_credentials_file);

/** A refused request ends the script, each answer is a line, and the npm scripts are those of the platform under test. */
const PRELUDE = `
curl() { command curl --fail-with-body "$@" && echo; }
script() { node --disable-warning=ExperimentalWarning "bin/$1.ts" "\${@:2}" --data '${data}'; }
npm() {
  case "$*" in
    'run -s token -- '*) script token "\${@:5}" ;;
    'run selftest') script selftest ;;
    *) echo "npm $* is not run here" >&2; return 1 ;;
  esac
}
`;

/** What the commands print. */
export async function runCommands(commands: string, env: Record<string, string> = {}): Promise<string> {
  const script = commands
    .replaceAll('http://127.0.0.1:4280', ready.api_url)
    .replaceAll('./.data/', `${data}/`);
  const { stdout } = await promisify(execFile)('bash', ['-ceuo', 'pipefail', PRELUDE + script], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout;
}
