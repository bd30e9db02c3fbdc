import { createPublicKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readCertificate } from '../../functions/trust/certificate.ts';
import { readDer } from '../../functions/trust/der.ts';
import { formatName, hasName, parseName } from '../../functions/trust/distinguished-name.ts';
import { isSource } from '../../functions/trust/provenance.ts';
import { readJson } from '../../functions/trust/strict-json.ts';
import { judgeTrust, policyFor as choosePolicy } from '../../functions/trust/trust.ts';
import { TRUST_FAULTS } from '../../functions/trust/verification.ts';
import { ROOT } from '../../lib/bundle.ts';
import { KEY_TYPES } from '../../sdk/signing/algorithms.ts';
import { createDevelopmentChain } from '../../sdk/signing/certificates.ts';
import { signDescriptor } from '../../sdk/signing/notation.ts';
import { signProvenance } from '../../sdk/signing/provenance.ts';
import { keySigner } from '../../sdk/signing/signer.ts';
import {
  ask,
  at,
  BUILD_TYPE,
  BUILDER_ID,
  describeContent,
  draftEnvelope,
  DSSE,
  ENVELOPE,
  EXPIRY,
  goodHeader,
  issueSigner,
  keyOf,
  kitOf,
  NOW,
  policyFor,
  REPOSITORY,
  SCHEME,
  SOURCE,
} from './admission-kit.ts';
import { builderOf } from './admission-provenance.ts';

const DESCRIPTOR = describeContent('an image');

describe('what the signing library makes', () => {
  // The largest key takes seconds to make, and differs from the others in nothing but its size.
  test.each(KEY_TYPES.filter((keyType) => keyType !== 'RSA-4096'))(
    'is trusted, signed with %s',
    async (keyType) => {
      const chain = createDevelopmentChain({ organisation: 'Example, Inc.', now: NOW, keyType });
      const signer = keySigner(chain);
      const provenance = {
        digest: DESCRIPTOR.digest,
        builderId: BUILDER_ID,
        buildType: BUILD_TYPE,
        externalParameters: { source: SOURCE },
      };
      const signature = await signDescriptor(DESCRIPTOR, signer, { signedAt: NOW, expiresAt: at(30) });
      const statement = await signProvenance(provenance, signer);
      const leaf = new X509Certificate(signer.chain[0] ?? '');
      const builder = builderOf(kitOf('P-256'), {
        public_keys: [String(leaf.publicKey.export({ type: 'spki', format: 'pem' }))],
      });
      const policy = policyFor(signer.chain.at(-1) ?? Buffer.alloc(0), {
        identities: [String.raw`CN=development,O=Example\, Inc.`],
        provenance: { required: true, builders: [builder], source_repositories: [SOURCE] },
      });
      const verification = judgeTrust({
        descriptor: DESCRIPTOR,
        repository: REPOSITORY,
        evidence: {
          signatures: [{ mediaType: ENVELOPE, bytes: signature }],
          provenances: [{ mediaType: DSSE, bytes: statement }],
        },
        trust: { revision: 3, policies: [policy], revoked: [] },
        now: NOW,
      });
      expect(verification).toEqual({
        verdict: 'verified',
        at: NOW.toISOString(),
        trust_revision: 3,
        policy: { name: 'example', version: 1 },
        signer: {
          subject: String.raw`CN=development,O=Example\, Inc.`,
          issuer: String.raw`CN=development root,O=Example\, Inc.`,
          serial_number: leaf.serialNumber.toLowerCase(),
          fingerprint: leaf.fingerprint256.replaceAll(':', '').toLowerCase(),
          not_after: new Date(leaf.validTo).toISOString(),
        },
        signed_at: NOW.toISOString(),
        valid_until: at(30).toISOString(),
        provenance: { builder_id: BUILDER_ID, build_type: BUILD_TYPE, source_repository: SOURCE },
      });
    },
  );
});

describe('a verdict', () => {
  const kit = kitOf('P-256');

  test('holds until the first certificate expires, or the signature before it', () => {
    const short = issueSigner(kit.authority, 'P-256', { notAfter: at(20) });
    const chain = kit.chain.with(0, short.certificate).map((each) => each.toString('base64'));
    const until = (expiry?: string) => {
      const header = {
        ...goodHeader(kit),
        ...(expiry && { [EXPIRY]: expiry, crit: [SCHEME, EXPIRY] }),
      };
      return judgeTrust(ask(kit, DESCRIPTOR, draftEnvelope(kit, DESCRIPTOR, { chain, header }))).valid_until;
    };
    expect(until()).toBe(at(20).toISOString());
    expect(until('2027-01-01T00:00:00Z')).toBe(at(20).toISOString());
    expect(until('2026-11-20T00:00:00Z')).toBe('2026-11-20T00:00:00.000Z');
  });

  test('tells the fault of the signature that came furthest', () => {
    const good = draftEnvelope(kit, { ...DESCRIPTOR, size: 1 });
    const question = ask(kit, DESCRIPTOR, good);
    const signatures = [
      { mediaType: ENVELOPE, bytes: Buffer.from('{}') },
      ...question.evidence.signatures,
      { mediaType: 'application/cose', bytes: Buffer.from('x') },
    ];
    const verification = judgeTrust({ ...question, evidence: { signatures, provenances: [] } });
    expect(verification).toMatchObject({ verdict: 'refused', fault: { code: 'signature.target' } });
    expect(verification).not.toHaveProperty('signer');
  });

  test('does not look for a good signature without end', () => {
    const question = ask(kit, DESCRIPTOR, draftEnvelope(kit, DESCRIPTOR));
    const junk = Array.from({ length: 20 }, () => ({ mediaType: ENVELOPE, bytes: Buffer.from('{}') }));
    const signatures = [...junk, ...question.evidence.signatures];
    expect(judgeTrust({ ...question, evidence: { signatures, provenances: [] } }).verdict).toBe('refused');
  });
});

describe('the policy that counts', () => {
  const policy = (repository_pattern: string) =>
    policyFor(kitOf('P-256').root.certificate, { repository_pattern, name: repository_pattern });
  const all = ['*', 'gpuaas/apps/*', 'gpuaas/apps/example/*', 'gpuaas/apps/example/demo'].map(policy);

  test.each([
    ['gpuaas/apps/example/demo', 'gpuaas/apps/example/demo'],
    ['gpuaas/apps/example/demo2', 'gpuaas/apps/example/*'],
    ['gpuaas/apps/example2/demo', 'gpuaas/apps/*'],
    ['gpuaas/platform', '*'],
  ])('for %s is the one for %s', (repository, expected) => {
    for (const policies of [all, all.toReversed()])
      expect(choosePolicy(repository, policies)?.name).toBe(expected);
  });

  test('is none where none covers the repository', () => {
    expect(choosePolicy('gpuaas/apps/other/demo', all.slice(2))).toBeUndefined();
  });
});

describe('a name', () => {
  test.each([
    ['CN=release,O=Example,C=US', 'CN=release,O=Example,C=US'],
    ['cn=release, o=Example', 'CN=release,O=Example'],
    ['CN=a+OU=b,O=c', 'CN=a+OU=b,O=c'],
    [String.raw`CN=a\,b\+c\"d\\e\<\>\;`, String.raw`CN=a\,b\+c\"d\\e\<\>\;`],
    [String.raw`CN=\ a\ ,O=\#b`, String.raw`CN=\ a\ ,O=\#b`],
    [String.raw`CN=Lu\C4\8Di\C4\87`, 'CN=Lučić'],
    [String.raw`CN=\20`, String.raw`CN=\ `],
    [String.raw`CN=a\\\20,O=b \#`, String.raw`CN=a\\\ ,O=b #`],
    [String.raw`CN=a\00b\0d`, String.raw`CN=a\00b\0d`],
    ['CN=a=b', 'CN=a=b'],
    ['DC=example,DC=com', 'DC=example,DC=com'],
  ])('%s is read and written again', (text, again) => {
    expect(formatName(parseName(text) ?? [])).toBe(again);
  });

  test.each([
    '',
    ' ',
    ',',
    'CN',
    'CN=',
    'CN= a',
    'CN=a ',
    'CN=#0403',
    'CN=a,',
    'CN=a,,O=b',
    'CN=a+',
    'CN="a"',
    'CN=a;O=b',
    'CN=a<b',
    'XX=a',
    '2.5.4.3=a',
    'CN=a\\',
    String.raw`CN=a\zz`,
    String.raw`CN=\ff`,
    'x509.subject:CN=a',
  ])('%j is none', (text) => {
    expect(parseName(text)).toBeUndefined();
  });

  test.each([
    ['CN=a,O=b,C=c', 'O=b', true],
    ['CN=a,O=b,C=c', 'C=c,CN=a', true],
    ['CN=a+OU=x,O=b', 'OU=x', true],
    ['CN=a+OU=x,O=b', 'OU=x+CN=a', true],
    ['CN=a,OU=x', 'OU=x+CN=a', false],
    ['CN=a,O=b', 'CN=a,O=b,C=c', false],
    ['CN=ab', 'CN=a', false],
    ['DC=example,DC=com', 'DC=com', true],
  ])('%s has %s: %s', (name, wanted, expected) => {
    expect(hasName(parseName(name) ?? [], parseName(wanted) ?? [])).toBe(expected);
  });
});

describe('a certificate', () => {
  test.each(KEY_TYPES)('of %s is read as OpenSSL reads it', (keyType) => {
    for (const bytes of kitOf(keyType).chain) {
      const own = readCertificate(bytes);
      const theirs = new X509Certificate(bytes);
      expect(own.serialNumber).toBe(theirs.serialNumber.toLowerCase());
      expect(own.fingerprint).toBe(theirs.fingerprint256.replaceAll(':', '').toLowerCase());
      expect(own.notBefore).toEqual(new Date(theirs.validFrom));
      expect(own.notAfter).toEqual(new Date(theirs.validTo));
      expect(own.key.key.equals(theirs.publicKey)).toBe(true);
      expect(own.basicConstraints?.isAuthority ?? false).toBe(theirs.ca);
      expect(own.purposes).toEqual(theirs.keyUsage);
      expect(formatName(own.subject).split(',').toReversed().join('\n')).toBe(theirs.subject);
    }
  });

  test('of an odd key is told by its kind', () => {
    const spki = createPublicKey(keyOf('RSA-2560', 'signer')).export({ type: 'spki', format: 'der' });
    expect(readDer(spki).children).toHaveLength(2);
    const odd = issueSigner(kitOf('P-256').authority, 'RSA-2560');
    expect(readCertificate(odd.certificate).key).toMatchObject({ kind: 'RSA-2560', isStrong: true });
    expect(readCertificate(odd.certificate).key).not.toHaveProperty('signing');
  });
});

describe('DER', () => {
  test.each([
    ['', 'nothing'],
    ['05', 'no length'],
    ['0500 0500', 'two elements'],
    ['1f8100', 'a tag of several bytes'],
    ['0000', 'an end of contents'],
    ['3080 0500 0000', 'a length without end'],
    ['30810500', 'a length in two bytes that needs one'],
    ['308200020500', 'a length in three bytes that needs one'],
    ['3084000000020500', 'a length of four bytes'],
    ['30030500', 'fewer bytes than it says'],
    ['0200', 'an empty number'],
    ['02020001', 'a number with a zero too many'],
    ['0202ff80', 'a number with a sign too many'],
    ['010101', 'a yes that is one'],
    ['01020000', 'a yes in two bytes'],
    ['050100', 'a nothing that is something'],
    ['0300', 'bits without a count'],
    ['030108', 'eight bits too many'],
    ['030101', 'bits too many of none'],
    ['03020101', 'bits that should be zero'],
    ['0600', 'an empty identifier'],
    ['06028001', 'an identifier with a zero before'],
    ['060180', 'an identifier without end'],
    ['310605000201 01', 'a set that is not in order'],
    ['3106 020101 020101', 'a set with one thing twice'],
    ['2c030c0161', 'text in pieces'],
    ['1000', 'a sequence in one piece'],
    ['0900', 'a real number'],
  ])('of %s is refused: %s', (hex) => {
    expect(() => readDer(Buffer.from(hex.replaceAll(' ', ''), 'hex'))).toThrow('expected');
  });

  test('is read no deeper, no longer and in no more parts than a certificate has', () => {
    const nested = (depth: number) => Buffer.from('3080'.repeat(depth), 'hex');
    let deep = Buffer.from('0500', 'hex');
    for (let depth = 0; depth < 17; depth += 1)
      deep = Buffer.concat([Buffer.from([0x30, deep.length]), deep]);
    expect(() => readDer(deep)).toThrow('16 deep');
    expect(() => readDer(nested(10_000))).toThrow('expected');
    expect(() => readDer(Buffer.alloc(70_000, 5))).toThrow('65536 bytes');
    const many = Buffer.alloc(4_400, Buffer.from('0500', 'hex'));
    expect(() => readDer(Buffer.concat([Buffer.from([0x30, 0x82, 0x11, 0x30]), many]))).toThrow('2000');
  });
});

describe('JSON that is signed', () => {
  test.each([
    '{"a":1,"a":1}',
    String.raw`{"a":1,"\u0061":1}`,
    '{"x":{"a":1,"b":[{"c":1,"c":2}]}}',
    '{"__proto__":1}',
    '{"constructor":1}',
    '[{"prototype":1}]',
    '{"a" :1, "a"\n:2}',
    '\ufeff{}',
    '',
    '{"a":1} x',
  ])('%j is refused', (text) => {
    expect(() => readJson(Buffer.from(text))).toThrow('expected');
  });

  test.each(['{"a":"a","b":"a:","c":{"a":[{"a":1},{"a":"\\"a\\":"}]}}', '"a"', '[]', '{"a":"{\\"a\\":1"}'])(
    '%j is read',
    (text) => {
      expect(readJson(Buffer.from(text))).toEqual(JSON.parse(text));
    },
  );

  test('nested without end is refused', () => {
    for (const text of [
      '['.repeat(500_000),
      `${'['.repeat(500_000)}${']'.repeat(500_000)}`,
      '{"a":'.repeat(100_000),
    ])
      expect(() => readJson(Buffer.from(text))).toThrow('expected');
  });
});

describe('a source', () => {
  test.each([
    ['git+https://code.example/team/demo', 'git+https://code.example/team/demo', true],
    ['git+https://code.example/team/demo', 'git+https://code.example/team/*', true],
    ['git+https://code.example/team/demo@refs/heads/a.b', 'git+https://code.example/team/demo@*', true],
    ['git+https://code.example/team/', 'git+https://code.example/team/*', false],
    ['git+https://code.example/team/demo', 'code.example/team/demo', false],
    ['x-git+https://code.example/team/demo', 'git+https://code.example/team/*', false],
    ['git+https://code.example/team/demo/..', 'git+https://code.example/team/*', false],
    ['git+https://code.example/team/..demo', 'git+https://code.example/team/*', true],
  ])('%s is one of %s: %s', (source, pattern, expected) => {
    expect(isSource(source, pattern)).toBe(expected);
  });
});

describe('docs/trust.md', () => {
  const text = readFileSync(join(ROOT, 'docs/trust.md'), 'utf8');

  test('tells of every fault, in the order they are looked for', () => {
    const told = [...text.matchAll(/^\| `([a-z]+\.[a-z_]+)`/gm)].map(([, code]) => code);
    expect(told).toEqual(TRUST_FAULTS);
  });
});
