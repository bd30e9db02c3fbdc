import { say } from '../lib/local/wire/say.ts';
import { ensureSystemParts, ensureTools } from '../lib/local/system/system.ts';
import { shareDynamoDb } from './dynamodb.ts';

/** A fresh machine runs the tests before it ever ran the platform: it needs the same parts, and a few tools. */
let dynamodb: { stop(): Promise<void> } | undefined;

export async function setup(): Promise<void> {
  await ensureSystemParts({ say, needsJava: true });
  const tools = { skopeo: 'skopeo', openssl: 'openssl', nft: 'nftables' };
  await ensureTools(tools, { say });
  dynamodb = await shareDynamoDb();
}

export const teardown = (): Promise<void> | undefined => dynamodb?.stop();
