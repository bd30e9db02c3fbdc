import { Construct } from 'constructs';
import { EVENTS, type Reactor } from '../functions/events.ts';
import { visibilitySeconds, WorkQueue } from './work-queue.ts';

/** The longest that a function may work on a batch of events. */
const REACTION_SECONDS_MAX = 60;

export interface ReactionQueue {
  work: WorkQueue;
  /** The types of the events that come to it. */
  types: string[];
}

/**
 * The queue of every domain that reacts to events. They stand beside the dispatcher that fills them, not in the stacks
 * of the domains: a stack then depends only on stacks before it, and events wait for a domain that is not deployed yet.
 */
export class ReactionQueues extends Construct {
  readonly all: ReadonlyMap<Reactor, ReactionQueue>;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const reactors = new Set(EVENTS.flatMap(([, , reactors]): readonly Reactor[] => reactors));
    this.all = new Map([...reactors].sort().map((reactor) => [reactor, this.queueOf(reactor)]));
  }

  of(reactor: Reactor): ReactionQueue {
    const queue = this.all.get(reactor);
    if (!queue) throw new Error(`No event in functions/events.ts has ${reactor} as a reactor.`);
    return queue;
  }

  private queueOf(reactor: Reactor): ReactionQueue {
    return {
      work: new WorkQueue(this, capitalized(reactor), {
        visibilitySeconds: visibilitySeconds(REACTION_SECONDS_MAX),
      }),
      types: EVENTS.filter(([, , reactors]) => (reactors as readonly Reactor[]).includes(reactor)).map(
        ([{ type }]) => type,
      ),
    };
  }
}

/** For people who read the queue's name. */
const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
