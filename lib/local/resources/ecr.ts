import { ACCOUNT, REGION } from '../wire/aws.ts';
import { NO_REGISTRY } from '../registry/ecr.ts';
import { physicalName, type ResourceKind } from './kind.ts';

export const repository: ResourceKind = {
  type: 'AWS::ECR::Repository',
  honoured: ['RepositoryName', 'ImageTagMutability'],
  ignored: [
    'EncryptionConfiguration',
    'ImageScanningConfiguration',
    'LifecyclePolicy',
    'EmptyOnDelete',
    'Tags',
  ],
  identify(resource, { registryHost = NO_REGISTRY }) {
    const name = physicalName(resource, 'RepositoryName', 256).toLowerCase();
    return {
      ref: name,
      attributes: {
        Arn: `arn:aws:ecr:${REGION}:${ACCOUNT}:repository/${name}`,
        RepositoryUri: `${registryHost}/${name}`,
      },
    };
  },
  create(resource, makers) {
    const mutability = resource.properties['ImageTagMutability'] === 'IMMUTABLE' ? 'IMMUTABLE' : 'MUTABLE';
    makers.putRepository({ name: resource.identity.ref, tagMutability: mutability });
  },
};
