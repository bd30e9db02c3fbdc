import * as v from 'valibot';
import { findRevokedContents } from '../artifacts/find-revoked-contents.ts';
import { readHostTrust } from '../artifacts/read-trust.ts';
import { signForHosts } from '../nodes/host-key.ts';
import { nodeOf } from '../platform/context.ts';
import { environment } from '../platform/environment.ts';
import { query } from '../platform/http/endpoint.ts';
import { NodeId } from '../platform/ids.ts';
import { TrustReply } from './agent-api.ts';
import { readWorkloads } from './read-workloads.ts';
import { planTrustDocument } from './trust-document.ts';
import { imagesOf } from './workload.ts';

export const getTrust = query(
  {
    summary: 'Get what images are judged by on this node, signed for it',
    params: v.object({ node_id: NodeId }),
    reply: TrustReply,
  },
  async (ctx) => {
    const { id } = nodeOf(ctx);
    // The number first: what is revoked while the rest is read is then under a later one.
    const trust = await readHostTrust();
    const images = imagesOf(await readWorkloads(id));
    const revoked = await findRevokedContents(images);
    const document = planTrustDocument(
      {
        node_id: id,
        trust,
        images: images.map((image, index) => ({ ...image, isRevoked: revoked[index] ?? false })),
        allowRootWithoutRemap: environment('ROOT_WITHOUT_REMAP') === 'allowed',
      },
      ctx.now(),
    );
    return { document: await signForHosts('gpuaas-trust+jwt', document) };
  },
);
