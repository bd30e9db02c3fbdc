import { readFileSync } from 'node:fs';

export interface User {
  uid: number;
  gid: number;
  home: string;
}

export type FindUser = (name: string) => User | undefined;

/** From /etc/passwd: those who come from a directory service are not the platform's to let in. */
export const findUser: FindUser = (name) => parseUser(readFileSync('/etc/passwd', 'utf8'), name);

export function parseUser(passwd: string, name: string): User | undefined {
  const fields = passwd
    .split('\n')
    .map((line) => line.split(':'))
    .find(([login]) => login === name);
  const [, , uid, gid, , home] = fields ?? [];
  if (!uid || !gid || !home?.startsWith('/')) return undefined;
  return { uid: Number(uid), gid: Number(gid), home };
}
