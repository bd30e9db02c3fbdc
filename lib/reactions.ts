import type { Construct } from 'constructs';
import { EVENTS, type Reactor } from '../functions/events.ts';
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

/** The function with which a domain reacts to events, and its queue. Each domain has its own. */
export class Reactions extends QueueConsumer {
  /** The types of the events that come to the queue. */
  readonly types: string[];

  constructor(scope: Construct, id: string, { domain, kernel, ...props }: ReactionsProps) {
    super(scope, id, {
      timeoutSeconds: 30,
      ...props,
      entry: `functions/${domain}/react-to-events.ts`,
      environment: { CONTROL_TABLE: kernel.control.tableName, ...props.environment },
    });
    this.types = EVENTS.filter(([, , reactors]) => (reactors as readonly Reactor[]).includes(domain)).map(
      ([{ type }]) => type,
    );
    grantItems(this, kernel.control, { actions: ['GetItem'], partitions: [OUTBOX_PARTITIONS] });
  }
}
