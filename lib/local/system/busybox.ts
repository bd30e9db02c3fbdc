import { closeSync, openSync, readSync } from 'node:fs';
import { findCommand } from '../engines/machine.ts';

/** A busybox that needs no other file: the only thing in the demo's image that is not ours. */
export function findBusybox(): string | undefined {
  const path = findCommand('busybox');
  return path !== undefined && isStatic(path) ? path : undefined;
}

const PROGRAM_INTERPRETER = 3;
const HEADER_BYTES = 4096;

/** Whether no dynamic linker is named among the program headers of an ELF file (64 bits, little-endian; elf(5)). */
export function isStatic(path: string): boolean {
  const header = readBeginning(path);
  const isElf64 = header.subarray(0, 6).equals(Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]));
  if (!isElf64) return false;
  const begin = Number(header.readBigUInt64LE(32));
  const size = header.readUInt16LE(54);
  const types = Array.from({ length: header.readUInt16LE(56) }, (_, index) => begin + index * size)
    .filter((at) => at + 4 <= HEADER_BYTES)
    .map((at) => header.readUInt32LE(at));
  return !types.includes(PROGRAM_INTERPRETER);
}

function readBeginning(path: string): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, bytes, 0, HEADER_BYTES, 0);
    return bytes;
  } finally {
    closeSync(file);
  }
}
