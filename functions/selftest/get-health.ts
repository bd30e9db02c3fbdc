import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { environment } from '../platform/environment.ts';

const Health = v.object({
  status: v.literal('ok'),
  version: v.string(),
  time: v.pipe(v.string(), v.isoTimestamp()),
});

export const getHealth = query({ summary: 'Check that the platform answers', reply: Health }, (ctx) => ({
  status: 'ok',
  version: environment('PLATFORM_VERSION'),
  time: ctx.now().toISOString(),
}));
