import { DescribeRepositoriesCommand } from '@aws-sdk/client-ecr';
import { ecr } from '../platform/clients.ts';
import { environment } from '../platform/environment.ts';

let host: string | undefined;

/** ECR's own word: the host is of the account and the region, and on a development machine quite another. */
export async function findRegistryHost(): Promise<string> {
  return (host ??= await askHost());
}

async function askHost(): Promise<string> {
  const name = environment('PLATFORM_REPOSITORY');
  const { repositories } = await ecr().send(new DescribeRepositoriesCommand({ repositoryNames: [name] }));
  const uri = repositories?.[0]?.repositoryUri;
  if (!uri) throw new Error(`ECR returned no address for ${name}.`);
  return hostOf(uri);
}

/** A repository's address is the host, a slash and its name. */
export function hostOf(repositoryUri: string): string {
  return repositoryUri.slice(0, repositoryUri.indexOf('/'));
}
