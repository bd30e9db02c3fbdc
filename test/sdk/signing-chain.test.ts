import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { CODE_SIGNING, issueCertificate, type CertificateRequest } from '../../sdk/signing/certificates.ts';
import { requireSigningChain } from '../../sdk/signing/signing-chain.ts';

const NOW = new Date('2026-11-16T12:00:00Z');
const validity = { notBefore: new Date('2026-01-01T00:00:00Z'), notAfter: new Date('2027-01-01T00:00:00Z') };
const root = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const middle = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const rootWith = (more: Partial<CertificateRequest> = {}) =>
  issueCertificate({
    subject: 'CN=root',
    publicKey: root.publicKey,
    privateKey: root.privateKey,
    ...validity,
    isCa: true,
    keyUsage: ['keyCertSign'],
    ...more,
  });
const middleWith = (more: Partial<CertificateRequest> = {}) =>
  issueCertificate({
    subject: 'CN=middle',
    publicKey: middle.publicKey,
    issuer: { subject: 'CN=root', privateKey: root.privateKey },
    ...validity,
    isCa: true,
    keyUsage: ['keyCertSign'],
    ...more,
  });
const leafWith = (more: Partial<CertificateRequest> = {}) =>
  issueCertificate({
    subject: 'CN=leaf',
    publicKey: leaf.publicKey,
    issuer: { subject: 'CN=middle', privateKey: middle.privateKey },
    ...validity,
    keyUsage: ['digitalSignature'],
    extendedKeyUsage: [CODE_SIGNING],
    ...more,
  });
const underRoot = { issuer: { subject: 'CN=root', privateKey: root.privateKey } };
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';

describe('a chain may sign', () => {
  test.each<[string, Buffer[]]>([
    ['with an authority between', [leafWith(), middleWith(), rootWith()]],
    ['straight under its root', [leafWith(underRoot), rootWith({ pathLength: 0 })]],
    ['without a stated purpose', [leafWith({ extendedKeyUsage: undefined }), middleWith(), rootWith()]],
    [
      'with non-repudiation',
      [leafWith({ keyUsage: ['digitalSignature', 'nonRepudiation'] }), middleWith(), rootWith()],
    ],
    ['alone', [leafWith({ issuer: undefined, privateKey: leaf.privateKey })]],
  ])('%s', (_name, chain) => {
    expect(() => requireSigningChain(chain, NOW)).not.toThrow();
  });
});

describe('a chain may not sign', () => {
  test.each<[string, Buffer[], string]>([
    ['without its root', [leafWith(), middleWith()], 'not a root'],
    ['in another order', [leafWith(), rootWith(), middleWith()], 'not issued by the next one'],
    ['with a stranger in it', [leafWith(), rootWith()], 'not issued by the next one'],
    ['as an authority', [middleWith(), rootWith()], 'not a code signing certificate'],
    [
      'without key usage',
      [leafWith({ keyUsage: undefined }), middleWith(), rootWith()],
      'code signing certificate',
    ],
    [
      'with a use that is not signing',
      [leafWith({ keyUsage: ['digitalSignature', 'keyEncipherment'] }), middleWith(), rootWith()],
      'code signing certificate',
    ],
    [
      'with a use in the second byte',
      [leafWith({ keyUsage: ['digitalSignature', 'decipherOnly'] }), middleWith(), rootWith()],
      'code signing certificate',
    ],
    [
      'for servers',
      [leafWith({ extendedKeyUsage: [SERVER_AUTH] }), middleWith(), rootWith()],
      'code signing certificate',
    ],
    [
      'for servers as well',
      [leafWith({ extendedKeyUsage: [CODE_SIGNING, SERVER_AUTH] }), middleWith(), rootWith()],
      'code signing certificate',
    ],
    [
      'below no authority',
      [leafWith(), middleWith({ isCa: false }), rootWith()],
      'not a certificate authority',
    ],
    [
      'below one that signs no certificates',
      [leafWith(), middleWith({ keyUsage: ['cRLSign'] }), rootWith()],
      'not a certificate authority',
    ],
    [
      'deeper than allowed',
      [leafWith(), middleWith(), rootWith({ pathLength: 0 })],
      'allows 0 authorities below it and has 1',
    ],
    [
      'before its time',
      [leafWith({ notBefore: new Date('2026-12-01') }), middleWith(), rootWith()],
      'not valid now',
    ],
    [
      'after the time of its root',
      [leafWith(), middleWith(), rootWith({ notAfter: new Date('2026-11-01') })],
      'not valid now',
    ],
  ])('%s', (_name, chain, told) => {
    expect(() => requireSigningChain(chain, NOW)).toThrow(told);
  });
});
