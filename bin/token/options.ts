import { join } from 'node:path';
import { parseArgs } from 'node:util';

export interface TokenOptions {
  email: string;
  readyFile: string;
}

export const USAGE = `Prints an access token of a person, from the platform that runs on this machine.

  npm run -s token -- <e-mail> [options]

  --data <folder>       the data folder of the platform (default .data)
  --ready-file <path>   its ready file (default <data>/ready.json)
  --help                this text

  curl -H "Authorization: Bearer $(npm run -s token -- owner@example.com)" …

Exits with 0 if it printed a token, 1 if it got none, 2 if the command line is not valid.
`;

/** Reads the command line; a word it does not know is told, not ignored. */
export function parseOptions(args: string[]): TokenOptions | { help: string } | { error: string } {
  let parsed;
  try {
    parsed = parseArgs({
      args,
      allowPositionals: true,
      options: {
        data: { type: 'string', default: '.data' },
        'ready-file': { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    return { error: (error as Error).message };
  }
  const { values, positionals } = parsed;
  if (values.help) return { help: USAGE };
  const [email, ...others] = positionals;
  if (email === undefined) return { error: 'Name the person by e-mail address, such as owner@example.com.' };
  if (others.length > 0) return { error: `Name one person only; remove “${others.join(' ')}”.` };
  return { email, readyFile: values['ready-file'] ?? join(values.data, 'ready.json') };
}
