import { query } from '../platform/http/endpoint.ts';
import { RegistryView, viewRegistry } from './registry.ts';
import { findRegistryHost } from '../storage/registry-host.ts';

export const getRegistry = query(
  { summary: 'Get the address of the registry and its requirements for images', reply: RegistryView },
  async () => viewRegistry(await findRegistryHost()),
);
