import { Command } from 'commander';
import { readConfig, stateDirOf } from '../config/config-file.ts';
import { createAgentLog } from './log.ts';
import { runAgent } from '../run/run-agent.ts';
import { launch, RESTART_CODE } from '../update/launch.ts';
import { agentVersion } from '../config/version.ts';
import { doctor } from './doctor.ts';
import { join, type JoinOptions } from './join.ts';
import { status } from './status.ts';
import type { Streams } from './streams.ts';

interface Common {
  stateDir?: string;
  json?: boolean;
}

const STATE_DIR = [
  '--state-dir <folder>',
  'where the agent keeps its key, configuration and journal',
] as const;
const JSON_OUTPUT = ['--json', 'print JSON, for programs'] as const;

/** `end` gets what the process ends with. */
export function createProgram(streams: Streams, end: (code: number) => void): Command {
  const { print, tell } = streams;
  const program = new Command('gpuaas-agent')
    .description('Runs on a GPU host and carries out what the GPUaaS App Platform asks of it.')
    .exitOverride()
    .configureOutput({ writeOut: (text) => print(text.trimEnd()), writeErr: (text) => tell(text.trimEnd()) });

  program
    .command('run')
    .description('Run the agent until it is told to stop (SIGTERM).')
    .option(...STATE_DIR)
    .action(async (options: Common) => {
      const stateDir = stateDirOf(options.stateDir);
      const config = readConfig(stateDir);
      const log = createAgentLog({ node_id: config.node_id });
      const agent = { config, stateDir, log, now: () => new Date() };
      end((await runAgent(agent, untilTold())) === 'restart' ? RESTART_CODE : 0);
    });

  program
    .command('launch')
    .description(
      'Run the current release of the agent, start it again when it ends, and go back if an update fails.',
    )
    .option(...STATE_DIR)
    .action(async (options: Common) => {
      const stateDir = stateDirOf(options.stateDir);
      const log = createAgentLog({ part: 'launcher' });
      end(await launch({ stateDir, log, now: () => new Date() }, untilTold()));
    });

  program
    .command('join')
    .description('Make this machine a node of a platform.')
    .requiredOption('--url <address>', 'of the platform')
    .requiredOption('--node <id>', 'of the node, as it was created on the platform')
    .option('--token <token>', 'the join token (or the variable GPUAAS_JOIN_TOKEN)')
    .option('--token-file <file>', 'a file with the join token')
    .option('--docker-socket <path>', "of the container engine's API")
    .option('--again', 'join even though this host has joined before')
    .option(...STATE_DIR)
    .action((options: JoinOptions & Common) => join(stateDirOf(options.stateDir), options, streams));

  program
    .command('doctor')
    .description('Explain what is wrong with this host. Ends with 1 if anything is.')
    .option(...STATE_DIR)
    .option(...JSON_OUTPUT)
    .action(async (options: Common) => {
      end((await doctor(stateDirOf(options.stateDir), options.json ?? false, streams)) ? 0 : 1);
    });

  program
    .command('status')
    .description('Show what this host holds.')
    .option(...STATE_DIR)
    .option(...JSON_OUTPUT)
    .action((options: Common) => status(stateDirOf(options.stateDir), options.json ?? false, streams));

  program
    .command('version')
    .description('Show the version of the agent.')
    .option(...JSON_OUTPUT)
    .action(({ json }: Common) => print(json ? JSON.stringify({ version: agentVersion }) : agentVersion));

  return program;
}

function untilTold(): AbortSignal {
  const told = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => told.abort());
  return told.signal;
}
