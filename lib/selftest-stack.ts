import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { CoreStack } from './core-stack.ts';
import { Selftest } from './selftest.ts';

export interface SelftestStackProps extends StackProps {
  core: CoreStack;
  version: string;
}

/** The self-test: no other stack needs it. */
export class SelftestStack extends Stack {
  constructor(scope: Construct, id: string, { core, version, ...props }: SelftestStackProps) {
    super(scope, id, props);
    const { api, kernel, socket } = core;
    api.serve('selftest', new Selftest(this, 'Selftest', { kernel, socket, version }).api);
  }
}
