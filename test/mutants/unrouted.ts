import type { Mutant } from './mutant.ts';

export const unrouted: Mutant[] = [
  {
    what: 'a browser is refused before it sends anything, so the console can call no route',
    file: 'functions/unrouted/api.ts',
    from: "if (http.method === 'OPTIONS' && ",
    to: "if (http.method === 'NEVER' && ",
    noticedBy: ['test/unrouted/unrouted.test.ts'],
  },
  {
    what: 'guessing paths costs nothing, as nobody counts it',
    file: 'functions/unrouted/api.ts',
    from: "admit: (ctx, event, headers) => admitAnyone(ctx, event, 'public', headers),",
    to: '',
    noticedBy: ['test/unrouted/unrouted.test.ts'],
  },
];
