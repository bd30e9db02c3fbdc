import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { namedBitsOf, readDer } from '../../functions/trust/der.ts';
import { readPublicKey } from '../../functions/trust/public-key.ts';

// Whoever attaches a signature chooses these bytes, and up to twenty of them are read with ten certificates each.

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
const withExponent = (bytes: number): Buffer => {
  const e = Buffer.alloc(bytes, 0xff);
  e[0] = 0x7f;
  return createPublicKey({ key: { ...rsa, e: e.toString('base64url') }, format: 'jwk' }).export({
    type: 'spki',
    format: 'der',
  });
};

describe('What comes with a signature', () => {
  it('names no more bits than there are', () => {
    const bits = (bytes: number): Buffer => Buffer.from([0x03, bytes + 1, 0, ...Buffer.alloc(bytes, 0xff)]);
    expect(namedBitsOf(readDer(bits(2)), 'a key usage').size).toBe(16);
    expect(() => namedBitsOf(readDer(bits(5)), 'a key usage')).toThrow('at most 32 bits');
  });

  it('has no RSA exponent that makes verification slow', () => {
    expect(readPublicKey(readDer(withExponent(8))).isStrong).toBe(true);
    for (const bytes of [9, 255])
      expect(() => readPublicKey(readDer(withExponent(bytes)))).toThrow('an RSA exponent of at most 8 bytes');
  });
});
