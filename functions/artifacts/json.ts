import { readJson } from './strict-json.ts';

/** What others wrote, which may be anything: nothing where it is not JSON that can be read in one way only. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return readJson(bytes);
  } catch {
    return undefined;
  }
}
