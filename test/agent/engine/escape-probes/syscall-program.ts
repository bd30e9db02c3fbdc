// A program that makes one call to the kernel and tells by its exit status what came of it: 0, or the number of the
// error. Shells have no words for most calls, and a compiler is not everywhere.

/** A text or bytes lie in the program itself, and the call is given their address. */
type Argument = number | string | Buffer;

const ADDRESS = 0x40_0000;
const HEADER_BYTES = 64 + 56;
/** mov rax, and the six registers of arguments: rdi rsi rdx r10 r8 r9 (System V ABI, AMD64, A.2.1). */
const MOVES = ['48b8', '48bf', '48be', '48ba', '49ba', '49b8', '49b9'];
/** syscall; xor rdi, rdi; test rax, rax; jns +4; mov edi, eax; neg edi; mov eax, 60 (exit); syscall */
const CALL_AND_EXIT = '0f05 4831ff 4885c0 7904 89c7 f7df b83c000000 0f05';
const CODE_BYTES = MOVES.length * 10 + Buffer.from(CALL_AND_EXIT.replaceAll(' ', ''), 'hex').length;

export function syscallProgram(call: number, ...args: Argument[]): Buffer {
  const data: Buffer[] = [];
  const place = (argument: Argument): number => {
    if (typeof argument === 'number') return argument;
    const offset = HEADER_BYTES + CODE_BYTES + Buffer.concat(data).length;
    data.push(typeof argument === 'string' ? Buffer.from(`${argument}\0`) : argument);
    return ADDRESS + offset;
  };
  const values = [call, ...args.map(place)];
  const moves = MOVES.map((move, index) =>
    Buffer.concat([Buffer.from(move, 'hex'), word(values[index] ?? 0)]),
  );
  const rest = Buffer.from(CALL_AND_EXIT.replaceAll(' ', ''), 'hex');
  const content = Buffer.concat([...moves, rest, ...data]);
  return Buffer.concat([headers(HEADER_BYTES + content.length), content]);
}

const word = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)));
  return bytes;
};

/** An ELF file of one segment, which is read, written and run. */
function headers(size: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('7f454c46020101', 0, 'hex');
  header.writeUInt16LE(2, 16); // an executable
  header.writeUInt16LE(62, 18); // for AMD64
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(ADDRESS + HEADER_BYTES), 24); // where it begins
  header.writeBigUInt64LE(64n, 32); // the program header follows
  header.writeUInt16LE(64, 52);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(1, 56);
  header.writeUInt32LE(1, 64); // loaded
  header.writeUInt32LE(7, 68); // rwx
  header.writeBigUInt64LE(BigInt(ADDRESS), 80);
  header.writeBigUInt64LE(BigInt(ADDRESS), 88);
  header.writeBigUInt64LE(BigInt(size), 96);
  header.writeBigUInt64LE(BigInt(size), 104);
  header.writeBigUInt64LE(0x1000n, 112);
  return header;
}
