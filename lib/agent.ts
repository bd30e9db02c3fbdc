import type { IKey } from 'aws-cdk-lib/aws-kms';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';

export interface AgentProps {
  kernel: Kernel;
  /** Signs what hosts are told. */
  hostKey: IKey;
  /** Of the platform, and so of the agent that comes with it. */
  version: string;
}

/** Serves the program that hosts run, and how a machine becomes a host. It contains both, and reads no table. */
export class Agent extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string, { kernel, hostKey, version }: AgentProps) {
    super(scope, id);
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/agent/api.ts',
      description: 'Serves the agent of hosts, its signed release, and the script that installs it.',
      concurrencyMax: 10,
      environment: {
        HOST_KEY_ID: hostKey.keyArn,
        PLATFORM_VERSION: version,
        TOKEN_ISSUER: kernel.environment.TOKEN_ISSUER,
      },
    });
    this.api.addToRolePolicy(
      new PolicyStatement({ actions: ['kms:GetPublicKey', 'kms:Sign'], resources: [hostKey.keyArn] }),
    );
  }
}
