// Where publish intents are kept. Pure, because the CDK app reads it too: a function's role reaches these partitions and
// no others.

import type { Key } from '../platform/data/table.ts';
import type { IntentId } from '../platform/ids.ts';

export const INTENT_PARTITIONS = 'INTENT#*';

/** Intents that are still open, in gsi1, by when they expire. */
export const OPEN_INTENTS = 'INTENTS#OPEN';

export const intentKey = (id: IntentId): Key => ({ pk: `INTENT#${id}`, sk: 'INTENT' });
