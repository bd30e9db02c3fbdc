import type { Construct } from 'constructs';
import type { Reactor } from '../functions/events.ts';
import type { Variable } from '../functions/platform/environment.ts';
import { OUTBOX_PARTITIONS } from '../functions/platform/data/keys.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { QueueConsumer } from './queue-consumer.ts';

export interface ReactionsProps {
  domain: Reactor;
  kernel: Kernel;
  description: string;
  environment?: Partial<Record<Variable, string>>;
  timeoutSeconds?: number;
}

/** The function with which a domain reacts to the events in its queue. Each domain has its own. */
export class Reactions extends QueueConsumer {
  constructor(scope: Construct, id: string, { domain, kernel, ...props }: ReactionsProps) {
    super(scope, id, {
      timeoutSeconds: 30,
      ...props,
      entry: `functions/${domain}/react-to-events.ts`,
      environment: { CONTROL_TABLE: kernel.control.tableName, ...props.environment },
      work: kernel.queues.of(domain).work,
    });
    grantItems(this, kernel.control, { actions: ['GetItem'], partitions: [OUTBOX_PARTITIONS] });
  }
}
