import { type KmsKey, signCompact } from '../platform/auth/kms-key.ts';
import type { PlannedToken } from './token.ts';

export const signToken = ({ header, claims }: PlannedToken, key: KmsKey): Promise<string> =>
  signCompact(header, claims, key);
