import { afterEach, describe, expect, test } from 'vitest';
import { continueTrace, formatTrace } from '../../functions/platform/trace.ts';

const SENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';

afterEach(() => void delete process.env._X_AMZN_TRACE_ID);

describe('a trace', () => {
  test('goes on with the id that was sent, in a span of its own', () => {
    const { traceId, spanId, flags } = continueTrace(SENT);
    expect({ traceId, flags }).toEqual({ traceId: '0af7651916cd43dd8448eb211c80319c', flags: '00' });
    expect(spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(spanId).not.toBe('b7ad6b7169203331');
    expect(continueTrace(formatTrace({ traceId, spanId, flags })).traceId).toBe(traceId);
  });

  test('is that of Lambda where nobody sent one, and a new one elsewhere', () => {
    process.env._X_AMZN_TRACE_ID =
      'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1';
    expect(continueTrace(undefined).traceId).toBe('5759e988bd862e3fe1be46a994272793');
    delete process.env._X_AMZN_TRACE_ID;
    const [one, other] = [continueTrace(undefined), continueTrace(undefined)];
    expect(one.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(one.traceId).not.toBe(other.traceId);
  });

  test.each([
    '',
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331',
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`,
    'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01',
    7,
    { traceparent: SENT },
  ])('is not continued from what is none: %j', (sent) => {
    expect(formatTrace(continueTrace(sent))).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(continueTrace(sent).traceId).not.toBe('0af7651916cd43dd8448eb211c80319c');
  });
});
