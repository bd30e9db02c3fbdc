import type { Engine } from './engine.ts';
import { unlessAbsent } from './engine-errors.ts';
import { NODE } from './labels.ts';
import type { UserFiles } from './user.ts';

const FILE_BYTES_MAX = 1024 * 1024;
const BLOCK_BYTES = 512;

/** The names of users and groups in an image, read out of a container that is made of it and never started. */
export async function readUserFiles({ docker, nodeId }: Engine, reference: string): Promise<UserFiles> {
  const container = await docker.createContainer({
    Image: reference,
    Entrypoint: ['/never-started'],
    NetworkDisabled: true,
    // Without a workload: should the agent die now, the next look at the engine removes it.
    Labels: { [NODE]: nodeId },
  });
  const read = async (path: string): Promise<string> => {
    const archive = await unlessAbsent(container.getArchive({ path }));
    return archive === undefined ? '' : firstFile(await readAtMost(archive, FILE_BYTES_MAX));
  };
  try {
    const [passwd, group] = await Promise.all([read('/etc/passwd'), read('/etc/group')]);
    return { passwd, group };
  } finally {
    await unlessAbsent(container.remove({ force: true, v: true }));
  }
}

async function readAtMost(stream: NodeJS.ReadableStream, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) return Buffer.alloc(0);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Of a tar archive (ustar) with one entry; a link has no content, and then nobody is named. */
function firstFile(archive: Buffer): string {
  const type = archive.subarray(156, 157).toString('latin1');
  if (archive.length < BLOCK_BYTES || (type !== '0' && type !== '\0')) return '';
  const size = Number.parseInt(archive.subarray(124, 136).toString('latin1'), 8);
  return archive.subarray(BLOCK_BYTES, BLOCK_BYTES + size).toString('utf8');
}
