import { createTask } from './create-task.ts';
import { endTask } from './end-task.ts';
import { fetchSecret } from './fetch-secret.ts';
import { getTask } from './get-task.ts';
import { getTrust } from './get-trust.ts';
import { issuePullCredentials } from './issue-pull-credentials.ts';
import { listTasks } from './list-tasks.ts';
import { listWorkloads } from './list-workloads.ts';
import { reportProgress } from './report-progress.ts';
import { reportWorkload } from './report-workload.ts';

/** Every handler of the domain, by the name its routes call it. */
export const tasksEndpoints = {
  createTask,
  listTasks,
  getTask,
  issuePullCredentials,
  getTrust,
  fetchSecret,
  listWorkloads,
  reportWorkload,
  reportProgress,
  endTask,
};
