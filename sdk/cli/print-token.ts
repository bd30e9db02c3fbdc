import { currentSession } from '../sign-in/session.ts';
import { sessionFolder } from '../sign-in/session-file.ts';
import { answer, type Answering, type Streams } from './streams.ts';

/** `gpuaas token`. */
export async function printToken(options: Answering, streams: Streams): Promise<void> {
  const { access_token, expires_at } = await currentSession(sessionFolder(process.env));
  answer(streams, options, { access_token, expires_at }, [access_token]);
}
