import { type Problems, refusing } from '../platform/errors.ts';

export const nodesProblems = {
  'node.in_use': { status: 409, retryable: false, title: 'Something is still held or running on the node' },
  'node.not_enrolled': { status: 409, retryable: false, title: 'No agent has enrolled for the node' },
  'node.key_cloned': {
    status: 409,
    retryable: false,
    title: 'A later run of the agent has spoken with the key of this node',
  },
  'node.key_taken': { status: 409, retryable: false, title: 'Another node was enrolled with this key' },
  'node.proof_invalid': {
    status: 401,
    retryable: false,
    title: 'The proof does not show that the private key is held',
  },
  'join_token.invalid': {
    status: 401,
    retryable: false,
    title: 'The node is unknown, or the join token is not its own',
  },
  'join_token.expired': { status: 409, retryable: false, title: 'The join token has expired' },
  'join_token.used': {
    status: 409,
    retryable: false,
    title: 'The join token was used with another key',
  },
} as const satisfies Problems;

export const refuse = refusing({ ...nodesProblems });
