import { beforeAll, describe, expect, test } from 'vitest';
import { openFunctionRoles, reach } from './function-roles.ts';
import { PARTITIONS } from '../../functions/partitions.ts';
import { synthesizedApp } from './synthesized.ts';

test('dump', async () => {
  const t0 = performance.now();
  const world = await openFunctionRoles(synthesizedApp().outdir);
  console.log('open', performance.now() - t0, world.control, world.functions.length);
  const out: Record<string, Record<string, string>> = {};
  let calls = 0;
  const t1 = performance.now();
  await Promise.all(world.functions.map(async ({ name, client }) => {
    for (const [owner, owned] of Object.entries(PARTITIONS)) {
      if (owner === name.split('-')[0]) continue;
      for (const on of ['table', 'gsi1'] as const)
        for (const p of ((owned as any)[on] ?? [])) {
          calls += on === 'table' ? 8 : 1;
          const a = await reach(client, world.control, p, on);
          if (a.length) (out[name] ??= {})[`${p} ${on}`] = a.join(' ');
        }
    }
  }));
  console.log('reach', performance.now() - t1, calls);
  console.log(JSON.stringify(out, null, 1));
  await world.close();
});
