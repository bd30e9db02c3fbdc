// Where organisations, projects and people are kept, beside the items the kernel reads itself. Pure, because the
// CDK app reads it too: a function's role reaches these partitions and no others.

import { orgKey, projectKey } from '../platform/data/keys.ts';
import type { Key } from '../platform/data/table.ts';
import type { InvitationId, OrgId, ProjectId, UserId } from '../platform/ids.ts';
import type { OrgSlug, ProjectSlug } from '../platform/name.ts';

/** Whoever holds the row of a slug holds the slug. */
export const ORG_SLUG_PARTITIONS = 'ORG_SLUG#*';
export const PROJECT_SLUG_PARTITIONS = 'PROJECT_SLUG#*';

/** Invitations by the hash of their token; the list of an organisation's own is in its partition. */
export const INVITATION_PARTITIONS = 'INVITATION#*';

/** Every organisation, in gsi1, by age. */
export const ORGS_PARTITION = 'ORGS';

export const orgSlugKey = (slug: OrgSlug): Key => ({ pk: `ORG_SLUG#${slug}`, sk: 'ORG_SLUG' });
export const projectSlugKey = (slug: ProjectSlug): Key => ({
  pk: `PROJECT_SLUG#${slug}`,
  sk: 'PROJECT_SLUG',
});

/** An organisation's projects, in gsi1, by age. */
export const orgProjectsPartition = (orgId: OrgId): string => `ORG#${orgId}#PROJECTS`;

export const MEMBER_ROWS = 'MEMBER#';
export const INVITATION_ROWS = 'INVITATION#';

/** The partition of the place itself: members and invitations stand beside the item they belong to. */
export const placePartition = (place: { org_id: OrgId; project_id?: ProjectId }): string =>
  (place.project_id === undefined ? orgKey(place.org_id) : projectKey(place.project_id)).pk;

export const memberKey = (place: { org_id: OrgId; project_id?: ProjectId }, userId: UserId): Key => ({
  pk: placePartition(place),
  sk: `${MEMBER_ROWS}${userId}`,
});

export const invitationRowKey = (orgId: OrgId, id: InvitationId): Key => ({
  pk: placePartition({ org_id: orgId }),
  sk: `${INVITATION_ROWS}${id}`,
});
export const invitationKey = (tokenHash: string): Key => ({
  pk: `INVITATION#${tokenHash}`,
  sk: 'INVITATION',
});
