import { existsSync, readFileSync } from 'node:fs';
import * as v from 'valibot';
import { NoToken } from './no-token.ts';

const Ready = v.pipe(v.string(), v.parseJson(), v.object({ oidc_issuer: v.string() }));

/** The provider of the running platform, as its ready file tells. */
export function runningIssuer(readyFile: string): string {
  if (!existsSync(readyFile))
    throw new NoToken(
      `The platform is not running: there is no ${readyFile}. Start it with “npm start”, or name its folder with --data.`,
    );
  const parsed = v.safeParse(Ready, readFileSync(readyFile, 'utf8'));
  if (parsed.success) return parsed.output.oidc_issuer;
  throw new NoToken(
    `${readyFile} names no OIDC issuer. Stop the platform and start it again with “npm start”.`,
  );
}
