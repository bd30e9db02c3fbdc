// The parts of an AsyncAPI 3.0 document that ours has. `lib/asyncapi.ts` makes it of the catalogue of events.

import type { Ref, Schema } from '../functions/docs/document.ts';

interface Server {
  host: string;
  protocol: string;
  description: string;
  variables: Record<string, { description: string; examples: string[] }>;
  security?: Ref[];
}

interface Channel {
  address: string;
  title: string;
  description: string;
  servers: Ref[];
  messages: Record<string, Ref>;
  bindings?: Record<string, unknown>;
}

interface Operation {
  action: 'send' | 'receive';
  channel: Ref;
  summary: string;
  /** All of the channel where it names none. */
  messages?: Ref[];
  reply?: { channel: Ref; messages: Ref[] };
}

export interface Message {
  name: string;
  title: string;
  summary?: string;
  traits?: Ref[];
  payload: Schema;
  examples?: { payload: unknown }[];
  /** The domain that says it. */
  'x-emitted-by'?: string;
  /** The domains of the platform that do something about it. */
  'x-reacted-to-by'?: readonly string[];
  /** Every code a problem of this message may carry. */
  'x-problem-codes'?: string[];
}

/** An envelope names the member that tells its kinds apart: AsyncAPI has more here than JSON Schema. */
export type AsyncapiSchema = Schema & { discriminator?: string };

/** One way to be told of events, as it stands in the document. */
export interface Wire {
  servers: Record<string, Server>;
  channels: Record<string, Channel>;
  operations: Record<string, Operation>;
}

export interface AsyncapiDocument extends Wire {
  asyncapi: '3.0.0';
  id: string;
  info: { title: string; version: string; description: string };
  defaultContentType: string;
  components: {
    messages: Record<string, Message>;
    schemas: Record<string, AsyncapiSchema>;
    /** What is the same for every message that has the trait. */
    messageTraits: Record<string, { headers: Ref; correlationId: Ref }>;
    correlationIds: Record<string, { description: string; location: string }>;
    securitySchemes: Record<string, Record<string, string>>;
  };
}
