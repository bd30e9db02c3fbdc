import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Api } from './api.ts';
import type { DataStack } from './data-stack.ts';
import { Docs } from './docs.ts';
import { Events } from './events.ts';
import { Identity } from './identity.ts';
import { Kernel } from './kernel.ts';
import { ReactionQueues } from './reaction-queues.ts';
import { Relay } from './relay.ts';
import { Socket } from './socket.ts';
import { Unrouted } from './unrouted.ts';

export interface CoreStackProps extends StackProps {
  data: DataStack;
}

/** What every domain stands on: the API, the sockets, the events, and who may do what. */
export class CoreStack extends Stack {
  readonly api: Api;
  readonly socket: Socket;
  readonly kernel: Kernel;

  constructor(scope: Construct, id: string, { data, ...props }: CoreStackProps) {
    super(scope, id, props);
    this.api = new Api(this, 'Api');
    this.socket = new Socket(this, 'Socket', { control: data.control });
    const queues = new ReactionQueues(this, 'Reactions');
    this.kernel = new Kernel(this, { data, api: this.api, queues });
    const { api, socket, kernel } = this;

    new Relay(this, 'Relay', { kernel, socket });
    api.serve('identity', new Identity(this, 'Identity', { kernel }).api);
    api.serve('events', new Events(this, 'Events', { kernel, socket }).api);
    api.serve('docs', new Docs(this, 'Docs').api);
    api.serveUnrouted(new Unrouted(this, 'Unrouted').api);

    new CfnOutput(this, 'ApiUrl', { value: api.url });
    new CfnOutput(this, 'SocketUrl', { value: socket.publicUrl });
  }
}
