import type { Mutant } from './mutant.ts';

export const relay: Mutant[] = [
  {
    what: 'a record that failed is not told to the stream, so it is not tried again',
    file: 'functions/relay/relay-events.ts',
    from: "itemIdentifier: dynamodb?.SequenceNumber ?? ''",
    to: "itemIdentifier: ''",
    noticedBy: ['test/relay/relay-events.test.ts'],
  },
];
