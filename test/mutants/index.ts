import { artifacts } from './artifacts.ts';
import { catalog } from './catalog.ts';
import { identity } from './identity.ts';
import { lib } from './lib.ts';
import { local } from './local.ts';
import { manifests } from './manifests.ts';
import type { Mutant } from './mutant.ts';
import { platform } from './platform.ts';
import { publishing } from './publishing.ts';
import { relay } from './relay.ts';
import { sdk } from './sdk.ts';
import { selftest } from './selftest.ts';

/** By the domain whose tests notice them. */
export const MUTANTS: Record<string, Mutant[]> = {
  platform,
  identity,
  manifests,
  catalog,
  publishing,
  artifacts,
  relay,
  selftest,
  sdk,
  local,
  lib,
};
