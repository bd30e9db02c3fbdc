import { type Problems, refusing } from '../platform/errors.ts';

export const tasksProblems = {
  'task.unknown': { status: 404, retryable: false, title: 'The task was not found' },
  'task.too_large': { status: 413, retryable: false, title: 'The task is too large to be sent to a host' },
  'task.image_unknown': {
    status: 422,
    retryable: false,
    title: 'The image is not registered and verified in this repository under this digest',
  },
  'task.fenced': { status: 409, retryable: false, title: 'The fencing number is not that of the task' },
  'workload.unknown': { status: 404, retryable: false, title: 'The workload was not found on the node' },
  'workload.exists': {
    status: 409,
    retryable: false,
    title: 'The workload belongs to another allocation, project or engine',
  },
  'workload.other_engine': { status: 409, retryable: false, title: 'The workload runs on another engine' },
  'workload.leaving': { status: 409, retryable: false, title: 'The removal of the workload was requested' },
  'workload.fenced': {
    status: 409,
    retryable: false,
    title: 'The fencing number of the report has been passed, or was never given out',
  },
  'pull.not_assigned': {
    status: 403,
    retryable: false,
    title: 'The repository is not assigned to this node',
  },
  'secret.unknown': { status: 404, retryable: false, title: 'The secret was not found' },
  'secret.fetched': { status: 409, retryable: false, title: 'The secret has already been fetched' },
  'secret.expired': { status: 409, retryable: false, title: 'The secret has expired' },
} as const satisfies Problems;

export const refuse = refusing(tasksProblems);
