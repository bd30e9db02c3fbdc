// A tar archive in the ustar format (POSIX.1-2017, pax, "ustar Interchange Format"), the same bytes from the same files.

export type TarEntry = { path: string } & (
  | { kind: 'folder' }
  | { kind: 'file'; content: Buffer; executable?: boolean }
  | { kind: 'link'; target: string }
);

const BLOCK_BYTES = 512;
/** Of 100 bytes the last may be taken too, but some readers want it to be zero. */
const NAME_BYTES_MAX = 99;
const TYPES = { file: '0', link: '2', folder: '5' };

/** Everything belongs to root and is as old as 1970. */
export function tarOf(entries: TarEntry[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    const content = entry.kind === 'file' ? entry.content : Buffer.alloc(0);
    return [headerOf(entry, content.length), content, padding(content.length)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]);
}

const padding = (size: number): Buffer => Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);

function headerOf(entry: TarEntry, size: number): Buffer {
  const path = entry.kind === 'folder' ? `${entry.path}/` : entry.path;
  const target = entry.kind === 'link' ? entry.target : '';
  for (const name of [path, target]) {
    if (Buffer.byteLength(name) > NAME_BYTES_MAX) throw new Error(`${name} is too long for a tar archive.`);
  }
  const isExecutable = entry.kind !== 'file' || entry.executable === true;
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(path, 0);
  header.write(octal(isExecutable ? 0o755 : 0o644, 7), 100);
  for (const [offset, digits] of [
    [108, 7], // user
    [116, 7], // group
    [136, 11], // time
  ] as const)
    header.write(octal(0, digits), offset);
  header.write(octal(size, 11), 124);
  header.write(TYPES[entry.kind], 156);
  header.write(target, 157);
  header.write('ustar\u000000', 257, 'latin1');
  // The sum counts its own field as blanks.
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\u0000 `, 148, 'latin1');
  return header;
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');
