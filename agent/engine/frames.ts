// What a container writes, as the engine sends it: frames of eight bytes of header (stream, three zeros, length) and text.

const HEADER_BYTES = 8;
/** The engine cuts lines at 16 KiB; a frame that says it is much longer is none. */
const FRAME_BYTES_MAX = 1024 * 1024;

export interface Frame {
  stream: 'stdout' | 'stderr';
  text: string;
}

export async function* frames(source: AsyncIterable<unknown>): AsyncGenerator<Frame> {
  let rest = Buffer.alloc(0);
  for await (const chunk of source) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    while (rest.length >= HEADER_BYTES) {
      const length = rest.readUInt32BE(4);
      if (length > FRAME_BYTES_MAX) throw new Error('The engine sent a frame that is too long.');
      if (rest.length < HEADER_BYTES + length) break;
      const text = rest.subarray(HEADER_BYTES, HEADER_BYTES + length).toString('utf8');
      yield { stream: rest[0] === 2 ? 'stderr' : 'stdout', text };
      rest = rest.subarray(HEADER_BYTES + length);
    }
  }
}
