import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Agent } from './agent.ts';
import { Allocations } from './allocations.ts';
import type { CoreStack } from './core-stack.ts';
import type { DataStack } from './data-stack.ts';
import { Nodes } from './nodes.ts';
import { Tasks } from './tasks.ts';

export interface HostsStackProps extends StackProps {
  data: DataStack;
  core: CoreStack;
  version: string;
}

/** Hosts: how they join, what they are asked to do, and who holds what of them. */
export class HostsStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { data, core: { api, kernel }, version, ...props }: HostsStackProps,
  ) {
    super(scope, id, props);
    api.serve('agent', new Agent(this, 'Agent', { kernel, hostKey: data.hostKey, version }).api);
    const nodes = new Nodes(this, 'Nodes', { kernel, data });
    api.serve('nodes', nodes.api);
    api.serve('tasks', new Tasks(this, 'Tasks', { kernel, data, nodes }).api);
    api.serve('allocations', new Allocations(this, 'Allocations', { kernel }).api);
  }
}
