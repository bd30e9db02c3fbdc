import { signForHosts } from '../nodes/host-key.ts';
import { environment } from '../platform/environment.ts';
import { document, query } from '../platform/http/endpoint.ts';
import { cachedBy } from './caching.ts';
import { readAgentBundle } from './read-agent-bundle.ts';
import { planRelease, SignedRelease } from './release.ts';

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

const sign = (now: Date): Promise<string> =>
  signForHosts('gpuaas-release+jwt', planRelease(readAgentBundle(), environment('PLATFORM_VERSION'), now));
