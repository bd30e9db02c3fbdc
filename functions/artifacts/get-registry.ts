import { DescribeRepositoriesCommand } from '@aws-sdk/client-ecr';
import { ecr } from '../platform/clients.ts';
import { query } from '../platform/endpoint.ts';
import { environment } from '../platform/environment.ts';
import { hostOf, RegistryView, viewRegistry } from './registry.ts';

let host: string | undefined;

export const getRegistry = query(
  { summary: 'Where images are pushed, and what is asked of them', reply: RegistryView },
  async () => viewRegistry((host ??= await findHost())),
);

/** ECR's own word: the host is of the account and the region, and on a development machine quite another. */
async function findHost(): Promise<string> {
  const name = environment('PLATFORM_REPOSITORY');
  const { repositories } = await ecr().send(new DescribeRepositoriesCommand({ repositoryNames: [name] }));
  const uri = repositories?.[0]?.repositoryUri;
  if (!uri) throw new Error(`ECR describes ${name} without its address.`);
  return hostOf(uri);
}
