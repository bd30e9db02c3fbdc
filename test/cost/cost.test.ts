import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { routes } from '../../functions/routes.ts';
import { ROOT } from '../../lib/bundle.ts';
import { synthesize, synthesizedApp } from '../lib/synthesized.ts';
import { countCalls, countEvent, countPromotion } from './count-flows.ts';
import { countSweeps } from './count-sweeps.ts';
import { fixedLines, idleLines } from './idle.ts';
import { withCost } from './page.ts';
import { thousandLines } from './thousand.ts';

const FRONT = {
  front: true,
  domain_name: 'api.example.com',
  certificate_arn: 'arn:aws:acm:us-east-1:123456789012:certificate/0',
};

// AWS's own local engine does not count what an index takes, nor a read that finds nothing.
const countsUnits = process.env['DYNAMODB'] !== 'aws';

test.runIf(countsUnits)(
  'docs/cost.md has the costs of what is in the template, and of what the functions do',
  async () => {
    const { data, platform } = synthesizedApp();
    const all = { ...data, ...platform };
    const front = synthesize({ validate: false, context: FRONT });
    front.remove();
    const flows = [...(await countCalls()), ...(await countPromotion()), ...(await countEvent())];

    const file = join(ROOT, 'docs/cost.md');
    const page = readFileSync(file, 'utf8');
    const made = withCost(page, {
      routes: Object.keys(routes).length,
      idle: idleLines(all, await countSweeps(all)),
      fixed: fixedLines(all, { ...front.data, ...front.platform }),
      flows,
      thousand: thousandLines(flows),
    });
    const formatted = await format(made, { ...(await resolveConfig(file)), parser: 'markdown' });
    // As `npm run cost` asks.
    if (process.env['COST'] === 'write') writeFileSync(file, formatted);
    else expect(formatted, 'Renew it with: npm run cost').toBe(page);
  },
);
