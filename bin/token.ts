import { NoToken } from './token/no-token.ts';
import { obtainToken } from './token/obtain-token.ts';
import { parseOptions, USAGE, type TokenOptions } from './token/options.ts';
import { runningIssuer } from './token/running-issuer.ts';

const FAILED = 1;
const MISUSED = 2;

const complain = (line: string) => process.stderr.write(`${line}\n`);

async function printToken({ email, readyFile }: TokenOptions): Promise<void> {
  const { access_token } = await obtainToken({ issuer: runningIssuer(readyFile), email });
  process.stdout.write(`${access_token}\n`);
}

const options = parseOptions(process.argv.slice(2));
if ('help' in options) process.stdout.write(options.help);
else if ('error' in options) {
  complain(`${options.error}\n\n${USAGE}`);
  process.exitCode = MISUSED;
} else {
  await printToken(options).catch((error: unknown) => {
    if (!(error instanceof NoToken)) throw error;
    complain(error.message);
    process.exitCode = FAILED;
  });
}
