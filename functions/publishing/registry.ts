// What an app team must know of the registry before it pushes there.

import * as v from 'valibot';
import { NAMESPACE } from '../storage/repository.ts';

export const RegistryView = v.object({
  /** What stands before the repository in an image's name. */
  registry_host: v.string(),
  namespace: v.literal(NAMESPACE),
  /** A repository belongs to a project: nobody else pushes there. */
  namespace_ownership: v.literal('project'),
  repository_pattern: v.literal(`${NAMESPACE}/{project_slug}/{app_slug}`),
  /** What runs is named by its digest; a tag can be moved. */
  digest_only: v.literal(true),
  /** Images are pulled with credentials only. */
  private_repositories: v.literal(true),
  tags: v.literal('informational'),
  signature_required: v.literal(true),
  signature_scheme: v.literal('notation-jws'),
});
export type RegistryView = v.InferOutput<typeof RegistryView>;

export function viewRegistry(host: string): RegistryView {
  return {
    registry_host: host,
    namespace: NAMESPACE,
    namespace_ownership: 'project',
    repository_pattern: `${NAMESPACE}/{project_slug}/{app_slug}`,
    digest_only: true,
    private_repositories: true,
    tags: 'informational',
    signature_required: true,
    signature_scheme: 'notation-jws',
  };
}
