import { createHash, createHmac, type BinaryLike } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import { REGION } from '../../../lib/local/wire/aws.ts';
import type { AwsCredentials } from '../../../lib/local/iam/principals.ts';
import type { AwsServices } from './aws-services-world.ts';

/** A request that no SDK would make; by the operator, unless others sign it. */
export async function signRequest(
  world: Pick<AwsServices, 'url' | 'principals'>,
  call: { service: string; method: string; path: string; headers: Record<string, string>; body: Buffer },
  credentials: AwsCredentials = world.principals.operator(),
): Promise<Response> {
  const signer = new SignatureV4({
    service: call.service,
    region: REGION,
    credentials,
    sha256: Sha256,
  });
  const { host, hostname } = new URL(world.url);
  const headers = { ...call.headers, host };
  const signed = await signer.sign({ ...call, protocol: 'http:', hostname, headers });
  const { host: _, ...rest } = signed.headers;
  return fetch(world.url + call.path, {
    method: call.method,
    headers: rest,
    body: new Uint8Array(call.body),
  });
}

/** What the signer asks of a hash, by node:crypto. */
export class Sha256 {
  #hash;
  constructor(key?: unknown) {
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', key as BinaryLike);
  }
  update(data: unknown): void {
    this.#hash.update(data as BinaryLike);
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
  reset(): void {}
}
