import { vi } from 'vitest';

/** What one world has loaded and set is not for the next. */
export function forgetWorld(): void {
  vi.resetModules();
  for (const name of Object.keys(process.env))
    if (name.startsWith('AWS_ENDPOINT_URL')) Reflect.deleteProperty(process.env, name);
}
