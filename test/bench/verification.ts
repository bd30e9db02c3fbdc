import { verify, X509Certificate } from 'node:crypto';
import { judgeTrust } from '../../functions/trust/trust.ts';
import type { Trust } from '../../functions/trust/trust-policy.ts';
import { createDevelopmentChain } from '../../sdk/signing/certificates.ts';
import { signDescriptor } from '../../sdk/signing/notation.ts';
import { keySigner } from '../../sdk/signing/signer.ts';
import { interleave, measureApart, quantile, report, type Row } from './measure.ts';

const ROUNDS = 200;
const WARM_UP_ROUNDS = 100;
const CALLS = 20;

/** What judging a signature costs besides the arithmetic nobody can do without. In a process of its own. */
export const measureVerification = (): Promise<Row[]> => measureApart(import.meta.filename);

async function measure(): Promise<Row[]> {
  const now = new Date();
  const chain = createDevelopmentChain({ organisation: 'Example' });
  const descriptor = { mediaType: 'application/octet-stream', digest: `sha256:${'0'.repeat(64)}`, size: 1 };
  const bytes = await signDescriptor(descriptor, keySigner(chain), { signedAt: now });
  const evidence = { signatures: [{ mediaType: 'application/jose+json', bytes }], provenances: [] };
  const question = {
    descriptor,
    repository: 'gpuaas/apps/example/app',
    evidence,
    trust: trusting(chain.rootPem),
    now,
  };
  const sides = {
    judged: cpuMicros(() => judgeTrust(question).verdict === 'verified'),
    bare: cpuMicros(() => verifyBare(bytes)),
  };
  await interleave(WARM_UP_ROUNDS, sides);
  const { judged, bare } = await interleave(ROUNDS, sides);
  const micros = (samples: number[] | undefined): string => `${quantile(samples, 0.5).toFixed(0)} µs`;
  return [
    {
      what: 'judging a signature ÷ verifying its bytes and its chain',
      value: quantile(judged, 0.5) / quantile(bare, 0.5),
      unit: '×',
      note: `${micros(judged)} ÷ ${micros(bare)}; P-256, a chain of two`,
    },
  ];
}

/** The signature by the leaf's key, the leaf by the root's. */
function verifyBare(envelope: Buffer): boolean {
  const {
    protected: header,
    payload,
    signature,
    header: { x5c },
  } = JSON.parse(envelope.toString('utf8')) as {
    protected: string;
    payload: string;
    signature: string;
    header: { x5c: [string, string] };
  };
  const [leaf, root] = x5c.map((der) => new X509Certificate(Buffer.from(der, 'base64')));
  if (!leaf || !root) return false;
  const key = { key: leaf.publicKey, dsaEncoding: 'ieee-p1363' } as const;
  const signed = Buffer.from(`${header}.${payload}`);
  return leaf.verify(root.publicKey) && verify('sha256', signed, key, Buffer.from(signature, 'base64url'));
}

const trusting = (root: string): Trust => ({
  revision: 1,
  policies: [
    {
      name: 'example',
      description: '',
      repository_pattern: 'gpuaas/apps/example/*',
      roots: [root],
      identities: ['O=Example'],
      provenance: { required: false, builders: [], source_repositories: [] },
      version: 1,
      created_at: '',
      updated_at: '',
      updated_by: '',
    },
  ],
  revoked: [],
});

function cpuMicros(work: () => boolean): () => Promise<number> {
  return async () => {
    const begun = process.cpuUsage();
    for (let made = 0; made < CALLS; made += 1) if (!work()) throw new Error('It was not verified.');
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / CALLS;
  };
}

if (import.meta.main) report(await measure());
