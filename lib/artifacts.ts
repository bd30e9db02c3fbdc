import type { IRepository } from 'aws-cdk-lib/aws-ecr';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';

export interface ArtifactsProps {
  kernel: Kernel;
  /** The platform's own: it tells where the registry is. */
  repository: IRepository;
}

/** What apps are made of: images and files, where they are pushed, and whether they are trusted. */
export class Artifacts extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string, { kernel, repository }: ArtifactsProps) {
    super(scope, id);
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/artifacts/api.ts',
      description: 'Answers requests about the registry and what is in it.',
      memoryMb: 1024,
      concurrencyMax: 50,
      environment: { ...kernel.environment, PLATFORM_REPOSITORY: repository.repositoryName },
    });
    kernel.grant(this.api);
    this.api.addToRolePolicy(
      new PolicyStatement({
        actions: ['ecr:DescribeRepositories'],
        resources: [repository.repositoryArn],
      }),
    );
  }
}
