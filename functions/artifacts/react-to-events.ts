import { on, reactions } from '../platform/workflow/reactions.ts';
import { followRevocation } from './follow-revocation.ts';
import { ArtifactRevoked } from './revocation.ts';

export const handler = reactions(on(ArtifactRevoked, followRevocation));
