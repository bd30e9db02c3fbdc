import { CfnOutput, Fn, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Config } from './config.ts';
import type { CoreStack } from './core-stack.ts';
import { Firewall } from './firewall.ts';
import { Front } from './front.ts';

/** CloudFront takes its firewall from this region, wherever the platform is. */
const FIREWALL_REGION = 'us-east-1';

const ARN = 'FirewallArn';

/** Stands in another region than all the rest. */
export class FirewallStack extends Stack {
  constructor(scope: Construct, id: string, props: StackProps) {
    super(scope, id, { ...props, env: { region: FIREWALL_REGION } });
    new CfnOutput(this, ARN, { value: new Firewall(this, 'Firewall').arn });
  }

  /** For a stack of any region: CDK makes such references itself only where it knows both regions. */
  get firewallArn(): string {
    return Fn.getStackOutput(this.stackName, ARN, FIREWALL_REGION);
  }
}

export interface FrontStackProps extends StackProps {
  core: CoreStack;
  domain: NonNullable<Config['domain']>;
  firewall: FirewallStack;
}

/** The public address of API and sockets, where a deployment wants it behind a firewall. */
export class FrontStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { core: { api, socket }, domain, firewall, ...props }: FrontStackProps,
  ) {
    super(scope, id, props);
    this.addStackDependency(firewall);
    const { firewallArn } = firewall;
    const front = new Front(this, 'Front', { api, socket, domain, firewallArn });
    new CfnOutput(this, 'Host', {
      value: front.host,
      description: `Where ${domain.name} has to point, by a CNAME or an alias record.`,
    });
  }
}
