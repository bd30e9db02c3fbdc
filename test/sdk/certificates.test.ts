import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { KEY_TYPES } from '../../sdk/signing/algorithms.ts';
import {
  CODE_SIGNING,
  createDevelopmentChain,
  issueCertificate,
  toPem,
} from '../../sdk/signing/certificates.ts';
import { integer, objectId, small, time } from '../../sdk/signing/der-writer.ts';
import { encodeName } from '../../sdk/signing/distinguished-name.ts';
import { keySigner } from '../../sdk/signing/signer.ts';

const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
afterAll(() => rmSync(folder, { recursive: true }));

function openssl(...args: string[]): string {
  return execFileSync('openssl', args, { encoding: 'utf8', cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
}

const NOW = new Date('2026-11-16T12:00:00.250Z');
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const selfSigned = (more: Partial<Parameters<typeof issueCertificate>[0]> = {}) =>
  new X509Certificate(
    issueCertificate({
      subject: 'CN=release,O=Example,C=US',
      publicKey,
      privateKey,
      notBefore: NOW,
      notAfter: new Date(NOW.getTime() + 86_400_000),
      ...more,
    }),
  );

describe('a chain for development', () => {
  test.each(KEY_TYPES)('of %s keys is one that openssl verifies strictly, for signing code', (keyType) => {
    const { rootPem, chainPem, keyPem } = createDevelopmentChain({ organisation: 'Example', keyType });
    writeFileSync(join(folder, 'root.pem'), rootPem);
    writeFileSync(join(folder, 'chain.pem'), chainPem);
    writeFileSync(join(folder, 'key.pem'), keyPem);
    expect(openssl('verify', '-x509_strict', '-CAfile', 'root.pem', 'chain.pem')).toBe('chain.pem: OK\n');
    expect(openssl('pkey', '-in', 'key.pem', '-pubout')).toBe(
      openssl('x509', '-in', 'chain.pem', '-noout', '-pubkey'),
    );
    const text = openssl('x509', '-in', 'chain.pem', '-noout', '-text');
    expect(text).toMatch(/Key Usage: critical\n\s+Digital Signature\n/);
    expect(text).toMatch(/Extended Key Usage: \n\s+Code Signing\n/);
  });

  test('ends with the root that a trust policy names, and its leaf is no authority', () => {
    const { rootPem, chainPem, keyPem } = createDevelopmentChain({ organisation: 'Example', now: NOW });
    const [leaf, root] = keySigner({ keyPem, chainPem }).chain.map((der) => new X509Certificate(der));
    expect(root?.toString()).toBe(rootPem);
    expect(root?.ca).toBe(true);
    expect(leaf?.ca).toBe(false);
    expect(leaf?.keyUsage).toEqual([CODE_SIGNING]);
    expect(leaf?.checkIssued(root ?? leaf)).toBe(true);
    expect(leaf?.validFromDate.getTime()).toBeLessThan(NOW.getTime());
  });

  test('takes an organisation of any letters', () => {
    const { chainPem } = createDevelopmentChain({ organisation: 'Müller, "Söhne" + Co; <KG>=\\#1' });
    writeFileSync(join(folder, 'odd.pem'), chainPem);
    const subject = openssl(
      'x509',
      '-in',
      'odd.pem',
      '-noout',
      '-subject',
      '-nameopt',
      'RFC2253,utf8,-esc_msb',
    );
    expect(subject).toBe('subject=CN=development,O=Müller\\, \\"Söhne\\" \\+ Co\\; \\<KG\\>=\\\\#1\n');
  });
});

describe('a certificate', () => {
  test('names subject and issuer from the largest to the smallest, as X.500 does', () => {
    const certificate = selfSigned({ serialNumber: '0a1b' });
    expect(certificate.subject).toBe('C=US\nO=Example\nCN=release');
    expect(certificate.issuer).toBe(certificate.subject);
    expect(certificate.serialNumber).toBe('0A1B');
    expect(certificate.validFromDate).toEqual(new Date('2026-11-16T12:00:00Z'));
    expect(certificate.verify(publicKey)).toBe(true);
  });

  test('has only what was asked for', () => {
    const bare = selfSigned();
    expect(bare.ca).toBe(false);
    expect(bare.keyUsage).toBeUndefined();
    writeFileSync(join(folder, 'bare.pem'), bare.toString());
    expect(openssl('x509', '-in', 'bare.pem', '-noout', '-text')).not.toMatch(/Key Usage|Basic Constraints/);
  });

  test('tells every use there is, in the bits that RFC 5280 gives them', () => {
    const uses = [
      'digitalSignature',
      'nonRepudiation',
      'keyEncipherment',
      'dataEncipherment',
      'keyAgreement',
      'keyCertSign',
      'cRLSign',
      'encipherOnly',
      'decipherOnly',
    ] as const;
    const told = uses.map((use) => {
      writeFileSync(join(folder, 'use.pem'), selfSigned({ keyUsage: [use] }).toString());
      return /Key Usage: critical\n\s+(.+)\n/.exec(openssl('x509', '-in', 'use.pem', '-noout', '-text'))?.[1];
    });
    expect(told).toEqual([
      'Digital Signature',
      'Non Repudiation',
      'Key Encipherment',
      'Data Encipherment',
      'Key Agreement',
      'Certificate Sign',
      'CRL Sign',
      'Encipher Only',
      'Decipher Only',
    ]);
  });

  test('has a path length, and dates beyond 2049', () => {
    const notAfter = new Date('2050-01-01T00:00:00Z');
    const certificate = selfSigned({ isCa: true, pathLength: 3, notAfter });
    writeFileSync(join(folder, 'ca.pem'), certificate.toString());
    expect(openssl('x509', '-in', 'ca.pem', '-noout', '-text')).toContain('CA:TRUE, pathlen:3');
    expect(certificate.validToDate).toEqual(notAfter);
  });

  test('can be signed with an old hash, for those who must refuse it', () => {
    writeFileSync(join(folder, 'old.pem'), selfSigned({ signatureHash: 'sha1' }).toString());
    expect(openssl('x509', '-in', 'old.pem', '-noout', '-text')).toContain('ecdsa-with-SHA1');
  });

  test('needs somebody who signs it', () => {
    expect(() => selfSigned({ privateKey: undefined })).toThrow('Give an issuer');
  });

  test('reads back whatever it was given', () => {
    const value = fc.string({ unit: 'grapheme-composite', minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(value, (name) => {
        const clean = name.trim();
        fc.pre(clean !== '' && !/\p{C}/u.test(clean));
        const { chainPem } = createDevelopmentChain({ organisation: clean });
        const legacy = new X509Certificate(chainPem).toLegacyObject().subject as { O: string };
        expect(legacy.O).toBe(clean);
      }),
      { numRuns: 50 },
    );
  });

  test('in PEM is what Node writes', () => {
    const certificate = selfSigned();
    expect(toPem(certificate.raw)).toBe(certificate.toString());
  });
});

describe('names', () => {
  test.each([
    ['CN=a\\2cb', 'CN=a,b'],
    ['CN=a+O=b', 'CN=a + O=b'],
    ['cn=a , o=b', 'O=b\nCN=a'],
    ['2.5.4.3=a', 'CN=a'],
    ['CN=\\c3\\a4', 'CN=ä'],
    ['DC=example,DC=com', 'DC=com\nDC=example'],
  ])('%s', (written, read) => {
    expect(selfSigned({ subject: written }).subject.replaceAll('\\', '')).toBe(read);
  });

  test.each(['release', 'X=1', '=1', 'CN'])('%s is none', (written) => {
    expect(() => encodeName(written)).toThrow('is not a valid part of a name');
  });
});

describe('DER', () => {
  test('numbers are as short as they can be and never negative', () => {
    expect(small(0).toString('hex')).toBe('020100');
    expect(small(127).toString('hex')).toBe('02017f');
    expect(small(128).toString('hex')).toBe('02020080');
    expect(integer(Buffer.from('0000ff', 'hex')).toString('hex')).toBe('020200ff');
    expect(integer(Buffer.alloc(300, 1)).subarray(0, 4).toString('hex')).toBe('0282012c');
  });

  test('object identifiers and times', () => {
    expect(objectId('1.2.840.113549.1.1.11').toString('hex')).toBe('06092a864886f70d01010b');
    expect(objectId('2.999.3').toString('hex')).toBe('0603883703');
    expect(time(new Date('2049-12-31T23:59:59.9Z')).toString('latin1')).toContain('491231235959Z');
    expect(time(new Date('2050-01-01T00:00:00Z')).toString('latin1')).toContain('20500101000000Z');
  });
});

test('a key of another kind than the six signs nothing', () => {
  const key = generateKeyPairSync('ed25519');
  const leaf = issueCertificate({
    subject: 'CN=a',
    publicKey: key.publicKey,
    issuer: { subject: 'CN=b', privateKey },
    notBefore: NOW,
    notAfter: NOW,
  });
  const keyPem = String(key.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  expect(() => keySigner({ keyPem, chainPem: toPem(leaf) })).toThrow('The Notary Project does not support');
});
