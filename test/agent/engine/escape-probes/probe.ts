// What somebody inside a container tries, to get out of it or at others.

/**
 * Containers nobody has protected, on the same engine. open: it has nearly everything the host has. plain: as
 * `docker run` makes it. user: the same, not as root. routed: on one of two networks between which the host forwards.
 * neighbour: on the network of the other workload.
 */
export const CONTROLS = ['open', 'plain', 'user', 'routed', 'neighbour'] as const;
export type Control = (typeof CONTROLS)[number];

export interface Probe {
  name: string;
  control: Control;
  /** For busybox' shell; status 0: it has got what it wanted. Files of the attacker lie in /data. */
  script: string;
}
