import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Alarms } from './alarms.ts';
import { Api } from './api.ts';
import { Artifacts } from './artifacts.ts';
import { Catalog } from './catalog.ts';
import type { DataStack } from './data-stack.ts';
import { Events } from './events.ts';
import { Docs } from './docs.ts';
import { Identity } from './identity.ts';
import { Kernel } from './kernel.ts';
import { Manifests } from './manifests.ts';
import { Publishing } from './publishing.ts';
import { Relay } from './relay.ts';
import { Retention } from './retention.ts';
import { Selftest } from './selftest.ts';
import { Socket } from './socket.ts';

export interface PlatformStackProps extends StackProps {
  data: DataStack;
  version: string;
}

/** Everything that can be deployed again at any time: code and wiring, but no data. */
export class PlatformStack extends Stack {
  constructor(scope: Construct, id: string, { data, version, ...props }: PlatformStackProps) {
    super(scope, id, props);
    const { control } = data;

    const api = new Api(this, 'Api');
    const socket = new Socket(this, 'Socket', { control });
    const kernel = new Kernel(this, data, api);

    const selftest = new Selftest(this, 'Selftest', { kernel, socket, version });
    const identity = new Identity(this, 'Identity', { kernel });
    const events = new Events(this, 'Events', { kernel, socket });
    const catalog = new Catalog(this, 'Catalog', { kernel });
    const artifacts = new Artifacts(this, 'Artifacts', { kernel, data });
    const publishing = new Publishing(this, 'Publishing', { kernel, data, artifacts });
    const retention = new Retention(this, 'Retention', { kernel, artifacts });
    const manifests = new Manifests(this, 'Manifests', { kernel });
    const docs = new Docs(this, 'Docs');
    api.serve({
      selftest: selftest.api,
      identity: identity.api,
      events: events.api,
      catalog: catalog.api,
      manifests: manifests.api,
      artifacts: artifacts.api,
      publishing: publishing.api,
      retention: retention.api,
      docs: docs.api,
    });

    new Relay(this, 'Relay', {
      kernel,
      socket,
      reactions: [selftest.reactions, catalog.reactions, artifacts.reactions],
    });
    new Alarms(this, 'Alarms');

    new CfnOutput(this, 'ApiUrl', { value: api.url });
    new CfnOutput(this, 'SocketUrl', { value: socket.url });
  }
}
