import { allocations } from './allocations.ts';
import { agent } from './agent.ts';
import { artifacts } from './artifacts.ts';
import { catalog } from './catalog.ts';
import { events } from './events.ts';
import { identity } from './identity.ts';
import { lib } from './lib.ts';
import { local } from './local.ts';
import { manifests } from './manifests.ts';
import type { Mutant } from './mutant.ts';
import { nodes } from './nodes.ts';
import { platform } from './platform.ts';
import { promotion } from './promotion.ts';
import { publishing } from './publishing.ts';
import { retention } from './retention.ts';
import { sdk } from './sdk.ts';
import { selftest } from './selftest.ts';
import { storage } from './storage.ts';
import { tasks } from './tasks.ts';
import { trust } from './trust.ts';
import { unrouted } from './unrouted.ts';

/** By the folder whose code is wrong then. */
export const MUTANTS: Record<string, Mutant[]> = {
  platform,
  identity,
  events,
  manifests,
  catalog,
  promotion,
  publishing,
  storage,
  trust,
  artifacts,
  retention,
  nodes,
  tasks,
  allocations,
  selftest,
  unrouted,
  sdk,
  local,
  lib,
  agent,
};
