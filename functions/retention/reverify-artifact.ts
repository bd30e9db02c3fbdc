import type { Actor } from '../platform/actor.ts';
import { decidingAgain, recordsOf } from '../platform/data/change.ts';
import { commit } from '../platform/data/commit.ts';
import type { Context } from '../platform/context.ts';
import type { ArtifactId } from '../platform/ids.ts';
import { findAnyArtifact } from '../artifacts/find-artifact.ts';
import { findBound } from '../artifacts/find-bound-version.ts';
import { decideVerification } from '../artifacts/decide-verification.ts';
import { examineArtifact } from '../artifacts/examine-artifact.ts';
import { dueTasks } from '../artifacts/artifact-due.ts';
import type { Trust } from '../trust/trust-policy.ts';
import { refuse } from './problems.ts';

/** The platform itself, looking after what it keeps. */
export const MAINTENANCE: Actor = { kind: 'platform', id: 'artifact-care' };

/**
 * Verifies an artifact again if that is due. An unchanged verdict is stored without an event; lost or regained trust is
 * audited and published.
 */
export async function reverifyArtifact(ctx: Context, id: ArtifactId, trust: Trust): Promise<void> {
  await decidingAgain(async () => {
    const artifact = await findAnyArtifact(id);
    if (!artifact || !dueTasks(artifact, trust.revision, ctx.now()).includes('verify')) return;
    const verification = await examineArtifact(artifact, trust, ctx.now());
    const bound = await findBound(artifact);
    const decision = { ...decideVerification(artifact, bound, verification, ctx.now()), actor: MAINTENANCE };
    const isNews = (verification.verdict === 'verified') !== (artifact.trust_state === 'verified');
    const records = isNews ? recordsOf(ctx, 'artifacts.artifact.reverify', decision) : [];
    await commit([...decision.writes, ...records]);
  }, refuse('unavailable'));
}
