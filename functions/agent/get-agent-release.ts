import { platformKey } from '../platform/auth/platform-key.ts';
import { signJws } from '../platform/auth/sign-jws.ts';
import { environment } from '../platform/environment.ts';
import { document, query } from '../platform/http/endpoint.ts';
import { cachedBy } from './caching.ts';
import { readAgentBundle } from './read-agent-bundle.ts';
import { planRelease, RELEASE_HEADER, SignedRelease } from './release.ts';

let signed: Promise<string> | undefined;

export const getAgentRelease = query(
  { summary: 'Get the version and the digest of the program that hosts run, signed', reply: SignedRelease },
  async (ctx) => {
    // Anyone may ask, and a signature costs: it is made once in the life of a function.
    signed ??= sign(ctx.now()).catch((error: unknown) => {
      signed = undefined;
      throw error;
    });
    const text = JSON.stringify({ document: await signed });
    return document(text, cachedBy(text));
  },
);

async function sign(now: Date): Promise<string> {
  const release = planRelease(readAgentBundle(), environment('PLATFORM_VERSION'), now);
  return signJws(RELEASE_HEADER, release, await platformKey(environment('HOST_KEY_ID')));
}
