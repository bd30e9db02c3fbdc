import { enrolmentOf, type HostKeys, newHost } from '../nodes/enrolments.ts';
import { assertionOf, call, done } from './people.ts';
import { plant } from './planted-secrets.ts';

export interface JoinedNode {
  id: string;
  host: HostKeys;
  token: string;
}

export const createNode = (name: string) =>
  done<{ id: string; join_token: string }>('POST', '/api/v1/admin/nodes', { as: 'admin', body: { name } });

/** A node whose host has joined over HTTP, as an agent does it, and has its token. */
export async function joinNode(name: string): Promise<JoinedNode> {
  const { id, join_token } = await createNode(name);
  const host = newHost();
  plant('the key of a node', host.private_key_pem);
  await done('POST', `/api/v1/nodes/${id}/enrolment`, { body: await enrolmentOf(id, join_token, host) });
  const { body } = await tokenOfNode(id, host);
  return { id, host, token: body.access_token };
}

export const tokenOfNode = async (id: string, { private_key_pem }: HostKeys) =>
  call<{ access_token: string }>('POST', '/api/v1/auth/node/token', {
    body: { assertion: await assertionOf({ id, key_id: id, private_key_pem }) },
  });
