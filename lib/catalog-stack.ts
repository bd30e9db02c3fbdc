import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Catalog } from './catalog.ts';
import type { CoreStack } from './core-stack.ts';
import type { DataStack } from './data-stack.ts';
import { Manifests } from './manifests.ts';

export interface CatalogStackProps extends StackProps {
  data: DataStack;
  core: CoreStack;
}

/** Apps: their manifests, their versions, and who may launch them. */
export class CatalogStack extends Stack {
  constructor(scope: Construct, id: string, { data, core: { api, kernel }, ...props }: CatalogStackProps) {
    super(scope, id, props);
    api.serve('catalog', new Catalog(this, 'Catalog', { kernel }).api);
    api.serve('manifests', new Manifests(this, 'Manifests', { kernel, data }).api);
  }
}
