import type { PlatformChannel, Performer, TaskContext } from './performer.ts';

type Launch = 'oci.launch' | 'compose.up';

/**
 * An image may have been assigned to this host after the trust policy that is held was signed, and without a change of its
 * revision. So whoever launches finds a policy that knows the images of the task, if the platform has one.
 */
export function knowingImages<K extends Launch>(channel: PlatformChannel, perform: Performer<K>): Performer<K> {
  return async (ctx) => {
    const { task } = ctx as TaskContext<Launch>;
    const containers = task.kind === 'oci.launch' ? [task.payload.container] : task.payload.containers;
    // What fails here fails again where the policy is read to judge by it, and is told there.
    await channel.trust(task.trust_revision, containers).catch(() => undefined);
    return perform(ctx);
  };
}
