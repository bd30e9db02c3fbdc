import { join } from 'node:path';
import { parseArgs } from 'node:util';

export interface CliOptions {
  /** A deployed platform; without it the one on this machine. */
  url: string | undefined;
  readyFile: string;
  logDir: string;
  timeoutSeconds: number;
  json: boolean;
}

const TIMEOUT_SECONDS = 60;

export const USAGE = `Tests a running platform: sends one task through every kind of connection it uses and prints each hop with its time.

  npm run selftest -- [options]

  --url <api url>       a deployed platform, with the AWS credentials of your environment or profile
                        (default: the platform on this machine)
  --data <folder>       the data folder of the platform on this machine (default .data)
  --ready-file <path>   its ready file (default <data>/ready.json)
  --timeout <seconds>   how long to wait for the end (default ${TIMEOUT_SECONDS})
  --json                print the outcome as JSON and nothing else
  --help                this text

Exits with 0 if every hop passed, 1 if one did not, 2 if the command line is not valid.
`;

/** Reads the command line; a word it does not know is told, not ignored. */
export function parseOptions(args: string[]): CliOptions | { help: string } | { error: string } {
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        url: { type: 'string' },
        data: { type: 'string', default: '.data' },
        'ready-file': { type: 'string' },
        timeout: { type: 'string', default: String(TIMEOUT_SECONDS) },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }));
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
  if (values.help) return { help: USAGE };
  const timeoutSeconds = Number(values.timeout);
  if (!(timeoutSeconds > 0))
    return { error: `--timeout takes a number of seconds, not “${values.timeout}”.` };
  if (values.url !== undefined && !/^https?:$/.test(URL.parse(values.url)?.protocol ?? '')) {
    return { error: `--url takes an http or https address, not “${values.url}”.` };
  }
  return {
    url: values.url,
    readyFile: values['ready-file'] ?? join(values.data, 'ready.json'),
    logDir: join(values.data, 'logs'),
    timeoutSeconds,
    json: values.json,
  };
}
