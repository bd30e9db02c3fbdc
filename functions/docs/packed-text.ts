import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';

/** A tenth of its size: a document within the bundle would make the function start slowly. */
export const packText = (text: string): string => brotliCompressSync(text).toString('base64');

export const unpackText = (packed: string): string =>
  brotliDecompressSync(Buffer.from(packed, 'base64')).toString();
