import { PostToConnectionCommand } from '@aws-sdk/client-apigatewaymanagementapi';
import { isNamed } from '../platform/aws-errors.ts';
import { socketPosts } from '../platform/clients.ts';
import type { ConnectionId } from '../platform/ids.ts';

/** `gone`: the client has closed the connection. */
export async function post(connectionId: ConnectionId, message: unknown): Promise<'delivered' | 'gone'> {
  try {
    await socketPosts().send(
      new PostToConnectionCommand({ ConnectionId: connectionId, Data: Buffer.from(JSON.stringify(message)) }),
    );
    return 'delivered';
  } catch (error) {
    if (isNamed(error, 'GoneException')) return 'gone';
    throw error;
  }
}
