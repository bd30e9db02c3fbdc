// Who a container's process runs as.

import { TaskFailed } from '../tasks/performer.ts';

/** Nobody's on any host: who runs as this has nothing outside its container. */
const FIXED_USER = { uid: 64_000, gid: 64_000 };

export interface User {
  uid: number;
  gid: number;
}

/** The files of an image that give names to numbers. */
export interface UserFiles {
  passwd: string;
  group: string;
}

/** Whether the image's own files have to be read to know the number: a name may stand for root too. */
export const isNamed = (imageUser: string): boolean =>
  imageUser !== '' && !/^\d+(?::\d+)?$/.test(imageUser) && !/^root(?::(?:root|\d+))?$/.test(imageUser);

/** As the engine resolves `user[:group]` (runc, libcontainer/user); nothing where the image does not know the name. */
export function resolveUser(imageUser: string, { passwd, group }: UserFiles): User | undefined {
  if (imageUser === '') return undefined;
  const [user = '', groupName] = imageUser.split(':');
  const entry = fieldsOf(passwd).find(([name, , uid]) => name === user || uid === user);
  const uid = user === 'root' ? 0 : numberOf(/^\d+$/.test(user) ? user : entry?.[2]);
  const gid = groupName === undefined ? numberOf(entry?.[3] ?? '0') : groupOf(groupName, group);
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

function groupOf(name: string, group: string): number | undefined {
  if (/^\d+$/.test(name)) return numberOf(name);
  if (name === 'root') return 0;
  return numberOf(fieldsOf(group).find(([other]) => other === name)?.[2]);
}

const fieldsOf = (file: string): string[][] => file.split('\n').map((line) => line.split(':'));

const numberOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;

export interface RootRules {
  /** The profile says that the image must run as root, and was reviewed for it. */
  isRootAsked: boolean;
  /** Root in a container is nobody outside. */
  isRemapped: boolean;
  isAllowedWithoutRemap: boolean;
}

/** `imageUser` is nothing where the image does not say who runs it. */
export function chooseUser(imageUser: User | undefined, rules: RootRules): User {
  const { isRootAsked, isRemapped, isAllowedWithoutRemap } = rules;
  const user = imageUser ?? (isRootAsked ? { uid: 0, gid: 0 } : FIXED_USER);
  if (user.uid !== 0) return user;
  if (!isRootAsked)
    throw new TaskFailed(
      'root_refused',
      'The image runs as root, and its profile does not say that it must.',
    );
  if (!isRemapped && !isAllowedWithoutRemap)
    throw new TaskFailed(
      'root_refused',
      'The image must run as root. The engine of this host does not remap users, and the platform does not allow root without that.',
    );
  return user;
}
