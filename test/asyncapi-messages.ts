import { Ajv } from 'ajv';
import { default as formats } from 'ajv-formats';
import { buildAsyncapi } from '../lib/asyncapi.ts';

const { components } = buildAsyncapi();

// What AsyncAPI adds to JSON Schema is passed over.
const ajv = new Ajv({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema({ $id: 'asyncapi', components });

/** What is wrong with something told, by the AsyncAPI document: `messages/event/payload`, `schemas/BusHeaders`. */
export function faultsOf(part: string, told: unknown): string[] {
  const accepts = ajv.getSchema(`asyncapi#/components/${part}`);
  if (!accepts) throw new Error(`The document has no ${part}.`);
  if (accepts(told) === true) return [];
  return (accepts.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
