import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import * as v from 'valibot';
import { SignInError } from './sign-in-error.ts';

const Session = v.object({
  issuer: v.string(),
  client_id: v.string(),
  access_token: v.string(),
  expires_at: v.pipe(v.string(), v.isoTimestamp()),
  refresh_token: v.optional(v.string()),
});
export type Session = v.InferOutput<typeof Session>;

/** `GPUAAS_CONFIG_DIR`, or below where the XDG base directory specification says. */
export function sessionFolder(env: Record<string, string | undefined>): string {
  const { GPUAAS_CONFIG_DIR, XDG_CONFIG_HOME = '' } = env;
  if (GPUAAS_CONFIG_DIR) return GPUAAS_CONFIG_DIR;
  return join(isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(homedir(), '.config'), 'gpuaas');
}

const fileIn = (folder: string): string => join(folder, 'session.json');

export function readSession(folder: string): Session | undefined {
  const file = fileIn(folder);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const session = v.safeParse(v.pipe(v.string(), v.parseJson(), Session), text);
  if (session.success) return session.output;
  throw new SignInError('failed', `${file} is not a sign-in.`, 'Sign in again with “gpuaas login”.');
}

/** For its owner's eyes alone, and whole or not at all. */
export function writeSession(folder: string, session: Session): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${fileIn(folder)}.${process.pid}.draft`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify(session)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(draft, fileIn(folder));
}

export function removeSession(folder: string): void {
  rmSync(fileIn(folder), { force: true });
}

/** Longer than a renewal takes at most: what held the lock for so long was killed. */
const HELD_MS_MAX = 30_000;
const LOOK_AGAIN_MS = 50;

/** One process at a time. */
export async function lockSession<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const lock = `${fileIn(folder)}.lock`;
  while (!takeLock(lock)) await setTimeout(LOOK_AGAIN_MS);
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function takeLock(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const heldSince = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  if (Date.now() - heldSince > HELD_MS_MAX) rmSync(lock, { force: true });
  return false;
}
