import {
  constants,
  createECDH,
  createHash,
  privateEncrypt,
  publicDecrypt,
  randomBytes,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto';

// Signatures over a SHA-256 digest that the caller has computed already. node:crypto only signs messages and
// always hashes them itself, so the last step of each scheme is done here.

/** ECDSA over P-256 (FIPS 186-5 §6.4.1), as DER. The point multiplication is OpenSSL's. */
export function signDigestP256(privateKey: KeyObject, digest: Buffer): Buffer {
  const secret = toBigInt(Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url'));
  for (;;) {
    const nonce = randomBytes(32);
    const k = toBigInt(nonce);
    if (k === 0n || k >= order) continue;
    const ecdh = createECDH('prime256v1');
    ecdh.setPrivateKey(nonce);
    const r = toBigInt(ecdh.getPublicKey().subarray(1, 33)) % order;
    const s = mod(inverse(k, order) * (toBigInt(digest) + r * secret), order);
    if (r !== 0n && s !== 0n) return toDer(r, s);
  }
}

/** FIPS 186-5 §6.4.2. */
export function verifyDigestP256(publicKey: KeyObject, digest: Buffer, signature: Buffer): boolean {
  const parts = fromDer(signature);
  if (parts === undefined) return false;
  const { r, s } = parts;
  if (r <= 0n || r >= order || s <= 0n || s >= order) return false;
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const key = { x: toBigInt(Buffer.from(x, 'base64url')), y: toBigInt(Buffer.from(y, 'base64url')), z: 1n };
  const w = inverse(s, order);
  const point = add(multiply(generator, mod(toBigInt(digest) * w, order)), multiply(key, mod(r * w, order)));
  if (point.z === 0n) return false;
  const divisor = inverse(point.z, prime);
  return mod(mod(point.x * divisor * divisor, prime), order) === r;
}

/** RSASSA-PSS with SHA-256 and a salt as long as the digest (RFC 8017 §9.1.1). */
export function signDigestPss(privateKey: KeyObject, digest: Buffer): Buffer {
  const bytes = modulusBytes(privateKey);
  const salt = randomBytes(32);
  const hash = pssHash(digest, salt);
  const block = Buffer.alloc(bytes - 33);
  block[block.length - 33] = 1;
  salt.copy(block, block.length - 32);
  const masked = xor(block, mask(hash, block.length));
  // The encoded message is one bit shorter than the modulus.
  masked[0] = (masked[0] ?? 0) & 0x7f;
  const encoded = Buffer.concat([masked, hash, Buffer.from([0xbc])]);
  return privateEncrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, encoded);
}

/** RFC 8017 §9.1.2. */
export function verifyDigestPss(publicKey: KeyObject, digest: Buffer, signature: Buffer): boolean {
  const bytes = modulusBytes(publicKey);
  if (signature.length !== bytes) return false;
  let encoded: Buffer;
  try {
    encoded = publicDecrypt({ key: publicKey, padding: constants.RSA_NO_PADDING }, signature);
  } catch {
    return false;
  }
  const hash = encoded.subarray(bytes - 33, bytes - 1);
  const block = xor(encoded.subarray(0, bytes - 33), mask(hash, bytes - 33));
  block[0] = (block[0] ?? 0) & 0x7f;
  const padding = block.subarray(0, block.length - 32);
  const isPadded = padding.at(-1) === 1 && padding.subarray(0, -1).every((byte) => byte === 0);
  const hasForm = encoded.at(-1) === 0xbc && ((encoded[0] ?? 0) & 0x80) === 0;
  return hasForm && isPadded && timingSafeEqual(hash, pssHash(digest, block.subarray(-32)));
}

function modulusBytes(key: KeyObject): number {
  return (key.asymmetricKeyDetails?.modulusLength ?? 0) / 8;
}

function pssHash(digest: Buffer, salt: Buffer): Buffer {
  return createHash('sha256').update(Buffer.alloc(8)).update(digest).update(salt).digest();
}

/** MGF1 (RFC 8017 §B.2.1). */
function mask(seed: Buffer, bytes: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(bytes / 32) }, (_, counter) => {
    const suffix = Buffer.alloc(4);
    suffix.writeUInt32BE(counter);
    return createHash('sha256').update(seed).update(suffix).digest();
  });
  return Buffer.concat(blocks).subarray(0, bytes);
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, index) => byte ^ (b[index] ?? 0)));
}

// P-256, y² = x³ − 3x + b over a prime field, in Jacobian coordinates: they put off the one costly division, by z, to
// the end. A point at infinity has z = 0.

interface Point {
  x: bigint;
  y: bigint;
  z: bigint;
}

const prime = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const generator: Point = {
  x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
  z: 1n,
};
const infinity: Point = { x: 1n, y: 1n, z: 0n };

function double({ x, y, z }: Point): Point {
  const delta = mod(z * z, prime);
  const gamma = mod(y * y, prime);
  const beta = mod(x * gamma, prime);
  const alpha = mod(3n * (x - delta) * (x + delta), prime);
  const doubledX = mod(alpha * alpha - 8n * beta, prime);
  return {
    x: doubledX,
    y: mod(alpha * (4n * beta - doubledX) - 8n * gamma * gamma, prime),
    z: mod((y + z) * (y + z) - gamma - delta, prime),
  };
}

function add(a: Point, b: Point): Point {
  if (a.z === 0n) return b;
  if (b.z === 0n) return a;
  const aSquare = mod(a.z * a.z, prime);
  const bSquare = mod(b.z * b.z, prime);
  const aX = mod(a.x * bSquare, prime);
  const aY = mod(a.y * b.z * bSquare, prime);
  const h = mod(b.x * aSquare - aX, prime);
  const r = mod(b.y * a.z * aSquare - aY, prime);
  if (h === 0n) return r === 0n ? double(a) : infinity;
  const hSquare = mod(h * h, prime);
  const hCube = mod(h * hSquare, prime);
  const v = mod(aX * hSquare, prime);
  const x = mod(r * r - hCube - 2n * v, prime);
  return { x, y: mod(r * (v - x) - aY * hCube, prime), z: mod(h * a.z * b.z, prime) };
}

function multiply(point: Point, times: bigint): Point {
  let sum = infinity;
  let doubling = point;
  for (let rest = times; rest > 0n; rest >>= 1n) {
    if (rest & 1n) sum = add(sum, doubling);
    doubling = double(doubling);
  }
  return sum;
}

function mod(value: bigint, modulus: bigint): bigint {
  return ((value % modulus) + modulus) % modulus;
}

/** By the extended Euclidean algorithm. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [previous, current] = [modulus, mod(value, modulus)];
  let [previousFactor, factor] = [0n, 1n];
  while (current > 1n) {
    const quotient = previous / current;
    [previous, current] = [current, previous - quotient * current];
    [previousFactor, factor] = [factor, previousFactor - quotient * factor];
  }
  return mod(factor, modulus);
}

function toBigInt(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex') || '0'}`);
}

function toDer(r: bigint, s: bigint): Buffer {
  const integers = Buffer.concat([r, s].map(derInteger));
  return Buffer.concat([Buffer.from([0x30, integers.length]), integers]);
}

function derInteger(value: bigint): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  // A leading bit would make it negative.
  const positive = (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
  return Buffer.concat([Buffer.from([0x02, positive.length]), positive]);
}

function fromDer(signature: Buffer): { r: bigint; s: bigint } | undefined {
  const rBytes = signature[3] ?? 0;
  const sBytes = signature[5 + rBytes] ?? 0;
  if (signature.length > 72 || signature.length !== 6 + rBytes + sBytes) return undefined;
  if (signature[0] !== 0x30 || signature[1] !== signature.length - 2) return undefined;
  if (signature[2] !== 0x02 || signature[4 + rBytes] !== 0x02) return undefined;
  return { r: toBigInt(signature.subarray(4, 4 + rBytes)), s: toBigInt(signature.subarray(6 + rBytes)) };
}
