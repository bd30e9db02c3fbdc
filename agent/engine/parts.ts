import type { Engine } from './engine.ts';
import type { Images } from './images.ts';
import type { Isolation } from './isolation.ts';
import type { Locks } from './locks.ts';
import type { Ports } from './ports.ts';
import type { Secrets } from './secrets.ts';
import type { States } from './states.ts';

/** What everything that acts on workloads is made of. */
export interface Parts {
  engine: Engine;
  images: Images;
  isolation: Isolation;
  secrets: Secrets;
  ports: Ports;
  states: States;
  locks: Locks;
}
