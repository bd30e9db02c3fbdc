import { Construct } from 'constructs';
import { TICKET_PARTITIONS } from '../functions/events/socket-keys.ts';
import { AUDIT_PARTITIONS, FEED_PARTITIONS } from '../functions/platform/data/keys.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';
import type { Socket } from './socket.ts';

export interface EventsProps {
  kernel: Kernel;
  socket: Socket;
}

/** What happened, to read: the audit log, the feed of a project, and tickets to follow it. */
export class Events extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string, { kernel, socket }: EventsProps) {
    super(scope, id);
    const { control } = kernel;
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/events/api.ts',
      description: 'Answers requests for the audit log and the event feed.',
      memoryMb: 1024,
      concurrencyMax: 20,
      environment: { ...kernel.environment, SOCKET_URL: socket.publicUrl },
    });
    kernel.grant(this.api);
    grantItems(this.api, control, { actions: ['Query'], partitions: [AUDIT_PARTITIONS, FEED_PARTITIONS] });
    grantItems(this.api, control, { actions: ['Query'], partitions: [AUDIT_PARTITIONS], index: 'gsi1' });
    grantItems(this.api, control, { actions: ['PutItem'], partitions: [TICKET_PARTITIONS] });
  }
}
