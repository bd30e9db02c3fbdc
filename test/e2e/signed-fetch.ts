import { dirname, join } from 'node:path';
import { signedRequest, type Credentials } from '../../bin/selftest/signed-request.ts';
import { localTarget } from '../../bin/selftest/target.ts';
import type { ReadyFile } from './platform-copy.ts';

const target = (ready: ReadyFile) => localTarget(join(dirname(ready.aws_credentials_file), 'ready.json'));

/** A request of the person at this machine, signed for the API as AWS credentials sign it. */
export function signedFetch(ready: ReadyFile, method: 'GET' | 'POST', path: string): Promise<Response> {
  return signedRequest(target(ready), method, new URL(path, ready.api_url));
}

export function readCredentials(ready: ReadyFile): Credentials {
  return target(ready).credentials;
}
