import { query } from '../platform/http/endpoint.ts';
import { RegistryView, viewRegistry } from './registry.ts';
import { findRegistryHost } from '../storage/registry-host.ts';

export const getRegistry = query(
  { summary: 'Where images are pushed, and what is asked of them', reply: RegistryView },
  async () => viewRegistry(await findRegistryHost()),
);
