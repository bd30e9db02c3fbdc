import { createHash, createHmac, randomUUID } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export interface Signer {
  credentials: Credentials;
  region: string;
}

const REQUEST_SECONDS_MAX = 10;

/** A request as AWS IAM lets it through the API gateway. */
export async function signedRequest(
  { credentials, region }: Signer,
  method: 'GET' | 'POST',
  url: URL,
): Promise<Response> {
  const signer = new SignatureV4({ service: 'execute-api', region, credentials, sha256: Sha256 });
  const { headers } = await signer.sign({
    method,
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: {
      host: url.host,
      // What is asked for once is done once, whatever is sent again on the way.
      ...(method === 'POST' && { 'x-idempotency-key': randomUUID() }),
    },
  });
  return fetch(url, { method, headers, signal: AbortSignal.timeout(REQUEST_SECONDS_MAX * 1000) });
}

type Bytes = string | ArrayBuffer | ArrayBufferView;

// The signer asks for a hash of this shape; with a secret it is an HMAC.
class Sha256 {
  #hash;

  constructor(secret?: Bytes) {
    this.#hash =
      secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string | Uint8Array);
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {
    throw new Error('A signature needs each hash once.');
  }
}
