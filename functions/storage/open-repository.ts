import { CreateRepositoryCommand } from '@aws-sdk/client-ecr';
import { isNamed } from '../platform/aws-errors.ts';
import { ecr } from '../platform/clients.ts';

/**
 * The repository exists afterwards. Its tags stay where they point, except for those under which clients keep the list
 * of an image's signatures where a registry has none itself (OCI distribution 1.1, “Referrers Tag Schema”).
 */
export async function openRepository(name: string): Promise<void> {
  try {
    await ecr().send(
      new CreateRepositoryCommand({
        repositoryName: name,
        imageTagMutability: 'IMMUTABLE_WITH_EXCLUSION',
        imageTagMutabilityExclusionFilters: [{ filterType: 'WILDCARD', filter: 'sha256-*' }],
        imageScanningConfiguration: { scanOnPush: true },
      }),
    );
  } catch (error) {
    if (!isNamed(error, 'RepositoryAlreadyExistsException')) throw error;
  }
}
