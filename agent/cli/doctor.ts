import Dockerode from 'dockerode';
import { readConfig } from '../config/config-file.ts';
import { localChecks, platformChecks } from '../host/checks.ts';
import { diagnose, formatDiagnosis, isHealthy } from '../host/doctor.ts';
import { runTool } from '../host/run-tool.ts';
import { connect } from '../run/connect.ts';
import type { Streams } from './streams.ts';

/** Answers whether the host is well. */
export async function doctor(stateDir: string, isJson: boolean, { print }: Streams): Promise<boolean> {
  const config = readConfig(stateDir);
  const now = () => new Date();
  const docker = new Dockerode({ socketPath: config.docker_socket });
  const { access } = connect(config, stateDir, now);
  const diagnoses = await diagnose([
    ...localChecks(docker, stateDir, runTool),
    ...platformChecks(config, access, now),
  ]);
  if (isJson) print(JSON.stringify({ healthy: isHealthy(diagnoses), checks: diagnoses }, null, 2));
  else for (const diagnosis of diagnoses) print(formatDiagnosis(diagnosis));
  return isHealthy(diagnoses);
}
