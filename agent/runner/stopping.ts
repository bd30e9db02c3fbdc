/** Why a task was aborted that is to be performed again from its start by the next run of the agent. */
export class AgentStopping extends Error {
  constructor() {
    super('The agent stops.');
    this.name = 'AgentStopping';
  }
}
