import type { Mutant } from './mutant.ts';

export const relay: Mutant[] = [
  {
    what: 'a record that failed is not told to the stream, so it is not tried again',
    file: 'functions/relay/relay-events.ts',
    from: "itemIdentifier: dynamodb?.SequenceNumber ?? ''",
    to: "itemIdentifier: ''",
    noticedBy: ['test/relay/relay-events.test.ts'],
  },
  {
    what: 'events that DynamoDB was too busy to read are taken for gone, and nobody ever hears of them',
    file: 'functions/relay/store.ts',
    from: `  if (Object.keys(answer.UnprocessedKeys ?? {}).length > 0) throw refuse('unavailable');
`,
    to: '',
    noticedBy: ['test/relay/relay-events.test.ts'],
  },
  {
    what: 'an event the bus refused counts as put there',
    file: 'functions/relay/put-on-bus.ts',
    from: 'if (FailedEntryCount === 0) return;',
    to: 'if (FailedEntryCount >= 0) return;',
    noticedBy: ['test/relay/relay-events.test.ts'],
  },
  {
    what: 'an event that failed is overtaken by the next of its place',
    file: 'functions/relay/relay-place.ts',
    from: `      await relayEvent(audience, event);
`,
    to: `      await relayEvent(audience, event).catch(() => undefined);
`,
    noticedBy: ['test/relay/relay-events.test.ts'],
  },
  {
    what: 'a batch whose first event can never be relayed is given up as a whole',
    file: 'functions/relay/relay-events.ts',
    from: 'Records.length > 1 && left.has',
    to: 'Records.length > 1000 && left.has',
    noticedBy: ['test/relay/relay-events.test.ts'],
  },
  {
    what: 'whoever holds any role in a project hears its events',
    file: 'functions/relay/admit-followers.ts',
    from: "'event.read', place) === 'allowed'",
    to: "'event.read', place) !== 'invisible'",
    noticedBy: ['test/relay/followers.test.ts'],
  },
  {
    what: 'a disabled service account goes on hearing events',
    file: 'functions/relay/admit-followers.ts',
    from: "status: v.literal('active')",
    to: 'status: v.string()',
    noticedBy: ['test/relay/followers.test.ts'],
  },
  {
    what: 'a connection of nobody in particular hears everything',
    file: 'functions/relay/admit-followers.ts',
    from: 'if (!holder) return false;',
    to: 'if (!holder) return true;',
    noticedBy: ['test/relay/followers.test.ts'],
  },
  {
    what: 'with more than a hundred followers nobody hears anything',
    file: 'functions/relay/admit-followers.ts',
    from: 'KEYS_MAX = 100',
    to: 'KEYS_MAX = 1_000',
    noticedBy: ['test/relay/followers.test.ts'],
  },
  {
    what: 'of many followers only the first few hear anything',
    file: 'functions/socket/store.ts',
    from: `    from = LastEvaluatedKey;
`,
    to: `    break;
`,
    noticedBy: ['test/relay/followers.test.ts'],
  },
  {
    what: 'a subscription never ends',
    file: 'functions/socket/store.ts',
    from: 'subscriptions.filter(({ expires_at }) => expires_at > epochSeconds(now))',
    to: 'subscriptions',
    noticedBy: ['test/relay/followers.test.ts'],
  },
  {
    what: 'a connection may be used after its time',
    file: 'functions/socket/store.ts',
    from: 'connection.expires_at > epochSeconds(now) ? admissionOf(connection) : undefined',
    to: 'admissionOf(connection)',
    noticedBy: ['test/relay/followers.test.ts'],
  },
  {
    what: 'a ticket opens any number of connections',
    file: 'functions/socket/store.ts',
    from: 'await takeItem(ticketKey(sha256(secret)), {',
    to: 'await readItem(ticketKey(sha256(secret)), {',
    noticedBy: ['test/identity/events.test.ts'],
  },
  {
    what: 'a ticket is good for ever',
    file: 'functions/socket/store.ts',
    from: "condition: 'expires_at > :now'",
    to: "condition: 'expires_at > :now OR attribute_exists(pk)'",
    noticedBy: ['test/identity/events.test.ts'],
  },
  {
    what: 'the table holds tickets readable',
    file: 'functions/socket/store.ts',
    from: 'topic, holder, expires_at: epochSeconds(expiresAt) }',
    to: 'topic, holder, secret, expires_at: epochSeconds(expiresAt) }',
    noticedBy: ['test/identity/events.test.ts'],
  },
  {
    what: 'who subscribes misses what happens between reading the position and being listed',
    file: 'functions/socket/message.ts',
    from: `  await subscribe(connectionId, admission, ctx.now());
  return { type: 'subscribed', ...(await describeTopic(admission.topic)) };`,
    to: `  const told = await describeTopic(admission.topic);
  await subscribe(connectionId, admission, ctx.now());
  return { type: 'subscribed', ...told };`,
    noticedBy: ['test/relay/followers.test.ts'],
  },
  {
    what: 'whoever was shown out can subscribe again',
    file: 'functions/socket/gather-audience.ts',
    from: `  await Promise.all(unwelcome.map(({ connectionId }) => dropConnection(connectionId, topic)));
`,
    to: '',
    noticedBy: ['test/relay/followers.test.ts'],
  },
];
