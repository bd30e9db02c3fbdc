import { TrustDocument, TrustReply } from '../../functions/tasks/agent-api.ts';
import type { Config } from '../config/config.ts';
import { TaskFailed } from '../tasks/performer.ts';
import { nodePath } from './paths.ts';
import type { AskPlatform } from './platform-client.ts';
import { DocumentRefused, verifyDocument } from './verify-document.ts';

interface Image {
  repository: string;
  digest: string;
}

/**
 * The signed trust policy, kept by its revision. It is fetched when a later revision is asked for, when it has expired,
 * or when an image is asked for that was assigned since. A document older than the one that is held is refused: whoever
 * replays it would bring back what was revoked.
 */
export function createTrustCache(
  ask: AskPlatform,
  { node_id, host_key }: Pick<Config, 'node_id' | 'host_key'>,
  now: () => Date,
) {
  let held: TrustDocument | undefined;
  let pending: Promise<TrustDocument> | undefined;

  async function fetchDocument(): Promise<TrustDocument> {
    const { document } = await ask({ method: 'GET', path: nodePath(node_id, '/trust') }, TrustReply);
    const fresh = await verifyDocument(document, host_key, TrustDocument);
    if (fresh.node_id !== node_id) throw new DocumentRefused('The trust policy is for another node.');
    if (isExpired(fresh)) throw new DocumentRefused('The trust policy has expired.');
    if (held && fresh.revision < held.revision)
      throw new DocumentRefused(`The trust policy is older than the one of revision ${held.revision}.`);
    held = fresh;
    return fresh;
  }

  const isExpired = ({ exp }: TrustDocument): boolean => exp * 1000 <= now().getTime();

  const suffices = (document: TrustDocument, revision: number, images: Image[]): boolean =>
    document.revision >= revision &&
    !isExpired(document) &&
    images.every(({ repository, digest }) =>
      document.assigned.some((known) => known.repository === repository && known.digest === digest),
    );

  return async (revision: number, images: Image[] = []): Promise<TrustDocument> => {
    if (held && suffices(held, revision, images)) return held;
    try {
      const before = pending && (await pending.catch(() => undefined));
      if (before && suffices(before, revision, images)) return before;
      pending ??= fetchDocument().finally(() => {
        pending = undefined;
      });
      const fresh = await pending;
      if (fresh.revision >= revision) return fresh;
      throw new DocumentRefused(
        `The task asks for revision ${revision} of the trust policy; the platform has an older one.`,
      );
    } catch (error) {
      throw new TaskFailed('trust_unavailable', (error as Error).message);
    }
  };
}
