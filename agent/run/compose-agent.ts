// Everything the agent is made of, put together.

import Dockerode from 'dockerode';
import * as v from 'valibot';
import { type Config, LAUNCHER_VARIABLE } from '../config/config.ts';
import { createPerformers } from '../engine/performers.ts';
import type { Journal } from '../journal/journal.ts';
import { createChannel } from '../platform/channel.ts';
import { connect } from './connect.ts';
import { createReportSender } from '../platform/send-reports.ts';
import { findUser } from '../ssh-trust/find-user.ts';
import { createSshTrust } from '../ssh-trust/reconcile-ssh-trust.ts';
import { Lanes } from '../runner/lanes.ts';
import type { Log, Performers } from '../tasks/performer.ts';
import type { TaskRunner } from '../runner/run-task.ts';
import { createUpdate } from '../update/update-agent.ts';
import { watchTrial } from '../update/watch-trial.ts';
import { agentVersion } from '../config/version.ts';

export interface Composing {
  config: Config;
  stateDir: string;
  journal: Journal;
  /** Ends this process, so that the launcher starts the current release. */
  restart: () => void;
  log: Log;
  now: () => Date;
}

export function composeAgent({ config, stateDir, journal, restart, log, now }: Composing) {
  const { node_id: nodeId } = config;
  const { key, ask, access } = connect(config, stateDir, now);
  const channel = createChannel({ config, key, ask, reports: journal.reports, now });
  const trial = watchTrial(stateDir, agentVersion);
  const docker = new Dockerode({ socketPath: config.docker_socket });
  const engine = createPerformers({
    docker,
    nodeId,
    journal: journal.workloads,
    channel,
    stateDir,
    portRange: config.port_range,
    log,
    now,
  });
  const performers: Performers = {
    ...engine.performers,
    'ssh_trust.reconcile': createSshTrust(findUser),
    'agent.update': createUpdate({
      config,
      stateDir,
      version: agentVersion,
      hasLauncher: process.env[LAUNCHER_VARIABLE] === '1',
      trialPassed: trial.passed,
      restart,
    }),
  };
  const runner: TaskRunner = {
    nodeId,
    journal,
    performers,
    log,
    now,
    tellProgress: (path, body) =>
      void ask({ method: 'POST', path, body, attempts: 1 }, v.unknown()).catch(() => undefined),
  };
  return {
    ask,
    access,
    docker,
    engine,
    trial,
    runner,
    lanes: new Lanes(config.tasks_max),
    sender: createReportSender(journal.reports, ask, { log, now }),
  };
}
