// What the agent knows of components beyond what the engine tells: whether they answer, and how often they were
// restarted. It is found out again after a restart of the agent, and the count then begins anew.

export interface ComponentState {
  state: 'starting' | 'ready' | 'unhealthy' | 'restarting' | 'exited';
  restarts: number;
  readyAt?: Date;
}

export class States {
  #states = new Map<string, Map<string, ComponentState>>();

  of(workloadId: string, component: string): ComponentState {
    return this.#states.get(workloadId)?.get(component) ?? { state: 'starting', restarts: 0 };
  }

  change(workloadId: string, component: string, change: Partial<ComponentState>): void {
    const components = this.#states.get(workloadId) ?? new Map<string, ComponentState>();
    components.set(component, { ...this.of(workloadId, component), ...change });
    this.#states.set(workloadId, components);
  }

  forget(workloadId: string): void {
    this.#states.delete(workloadId);
  }
}
