import { environment } from '../platform/environment.ts';
import { logInToRegistry, type RegistryLogin } from '../storage/registry-login.ts';
import type { Intent } from './intent.ts';

/**
 * As ECR's guide to pushing lists it. Many clients ask whether a manifest is there before they put it, so manifests can
 * be read. Layers cannot: that takes ecr:GetDownloadUrlForLayer.
 */
const PUSH = [
  'ecr:BatchGetImage',
  'ecr:BatchCheckLayerAvailability',
  'ecr:InitiateLayerUpload',
  'ecr:UploadLayerPart',
  'ecr:CompleteLayerUpload',
  'ecr:PutImage',
];

/** A login as the publisher's role, limited to this repository and time. */
export const mintCredential = ({
  id,
  repository,
  credential_ttl_seconds,
  credential_expires_at,
}: Intent): Promise<RegistryLogin> =>
  logInToRegistry({
    roleArn: environment('PUBLISHER_ROLE_ARN'),
    name: `publish-${id}`,
    seconds: credential_ttl_seconds,
    repositories: [repository],
    actions: PUSH,
    endsAt: credential_expires_at,
  });
