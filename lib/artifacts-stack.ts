import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Artifacts } from './artifacts.ts';
import type { CoreStack } from './core-stack.ts';
import type { DataStack } from './data-stack.ts';
import { Publishing } from './publishing.ts';
import { Retention } from './retention.ts';

export interface ArtifactsStackProps extends StackProps {
  data: DataStack;
  core: CoreStack;
}

/** What apps are made of: how it is published, whether it is trusted, how long it is kept. */
export class ArtifactsStack extends Stack {
  constructor(scope: Construct, id: string, { data, core: { api, kernel }, ...props }: ArtifactsStackProps) {
    super(scope, id, props);
    const artifacts = new Artifacts(this, 'Artifacts', { kernel, data });
    api.serve('artifacts', artifacts.api);
    api.serve('publishing', new Publishing(this, 'Publishing', { kernel, data, artifacts }).api);
    api.serve('retention', new Retention(this, 'Retention', { kernel, artifacts }).api);
  }
}
