import { inspectEnvelope } from '../signing/inspect-envelope.ts';
import { readNamedFile } from './named-file.ts';
import { answer, tell, type Answering, type Streams } from './streams.ts';

/** `gpuaas artifact inspect`. */
export function inspectArtifact(path: string, options: Answering, streams: Streams): void {
  const inspected = inspectEnvelope(readNamedFile(path));
  answer(streams, options, inspected, linesOf(inspected));
  tell(streams, options, 'These are its own claims; a trust policy decides whether to trust them.');
}

/** `target.digest sha256:…`: one line for each thing it says. */
function linesOf(value: object, path: string[] = []): string[] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const name = [...path, key];
    if (inner === undefined) return [];
    return typeof inner === 'object' && inner !== null
      ? linesOf(inner, name)
      : [`${name.join('.')} ${typeof inner === 'string' ? inner : JSON.stringify(inner)}`];
  });
}
