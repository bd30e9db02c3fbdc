/** Set where the agent is bundled; run from its sources it has none. */
declare const AGENT_VERSION: string | undefined;

export const agentVersion: string = typeof AGENT_VERSION === 'string' ? AGENT_VERSION : '0.0.0';
