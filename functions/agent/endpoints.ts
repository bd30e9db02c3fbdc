import { getAgentBundle } from './get-agent-bundle.ts';
import { getAgentRelease } from './get-agent-release.ts';
import { getBootstrapScript } from './get-bootstrap-script.ts';
import { getCloudInit } from './get-cloud-init.ts';

export const agentEndpoints = { getBootstrapScript, getCloudInit, getAgentBundle, getAgentRelease };
