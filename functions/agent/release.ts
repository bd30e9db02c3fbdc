// Which program hosts run now, in words that a host can tell to be the platform's.

import * as v from 'valibot';
import type { AgentRelease } from '../nodes/agent-api.ts';
import type { AgentBundle } from './read-agent-bundle.ts';

/** No other document that is signed with the key of hosts bears this mark, and none passes for a release (RFC 8725 §3.11). */
export const RELEASE_HEADER = { typ: 'gpuaas-agent-release+jwt' };

export const SignedRelease = v.object({ document: v.string() });

export const planRelease = (bundle: AgentBundle, version: string, now: Date): AgentRelease => ({
  version,
  digest: bundle.digest,
  size_bytes: bundle.sizeBytes,
  iat: Math.floor(now.getTime() / 1000),
});
