import { ArnFormat, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IConstruct } from 'constructs';
import { ANY_RESOURCE } from './wildcards.ts';

/** Every repository of an app stands below this name; they are made at run time. */
const APP_REPOSITORIES = 'gpuaas/apps/*';

export function appRepositoriesArn(scope: IConstruct): string {
  return Stack.of(scope).formatArn({
    service: 'ecr',
    resource: 'repository',
    resourceName: APP_REPOSITORIES,
    arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
  });
}

/** A password is for the whole registry; what it opens, the caller's other rights say. */
export const registryLogin = (): PolicyStatement =>
  new PolicyStatement({ actions: [...ANY_RESOURCE.registryLogin.actions], resources: ['*'] });
