import { refusing } from '../platform/errors.ts';
import { storageProblems } from '../storage/problems.ts';

export const refuse = refusing({ ...storageProblems });
