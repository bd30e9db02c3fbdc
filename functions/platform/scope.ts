import * as v from 'valibot';
import type { Principal } from './actor.ts';
import { PublicJwk } from './public-jwk.ts';
import { type NodeId, type OrgId, type ProjectId, textOf } from './ids.ts';
import type { OrgSlug, ProjectSlug } from './name.ts';
import type { Grant } from './permissions.ts';

/** A project as authorization sees it; handlers may rely on it being the one the path names. */
export const ScopedProject = v.object({
  id: textOf<ProjectId>(),
  org_id: textOf<OrgId>(),
  slug: textOf<ProjectSlug>(),
  name: v.string(),
  status: v.picklist(['active', 'archived']),
  version: v.number(),
});
export type ScopedProject = v.InferOutput<typeof ScopedProject>;

export const ScopedOrg = v.object({
  id: textOf<OrgId>(),
  slug: textOf<OrgSlug>(),
  name: v.string(),
  version: v.number(),
});
export type ScopedOrg = v.InferOutput<typeof ScopedOrg>;

/** The node that speaks for itself, with the key it proves itself by. */
export const ScopedNode = v.object({ id: textOf<NodeId>(), public_key_jwk: PublicJwk });
export type ScopedNode = v.InferOutput<typeof ScopedNode>;

/** What the caller may do as it is now, and the items that were read with it. */
export interface Reread {
  grants: Grant[];
  items: (Record<string, unknown> | undefined)[];
}

/** Who was let through, and to what. */
export interface Authorized extends Principal {
  /** Reads the caller's own item again, by one request with others: what was just given is there. */
  reread: (alongside: { pk: string; sk: string }[]) => Promise<Reread>;
  project?: ScopedProject;
  org?: ScopedOrg;
  node?: ScopedNode;
}
