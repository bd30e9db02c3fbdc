import { describe, expect, it } from 'vitest';
import { judgeTask, readDelivery } from '../../../agent/runner/judge-task.ts';
import { BODY_CASES } from './hostile-tasks/bodies.ts';
import {
  bodyOf,
  type HostileTask,
  NODE_ID,
  NOW,
  SAMPLE_NAMES,
  sampleOf,
  SEEN_FENCE,
} from './hostile-tasks/case.ts';
import { FIELD_CASES } from './hostile-tasks/fields.ts';
import { TOGETHER_CASES } from './hostile-tasks/together.ts';

const CASES: HostileTask[] = [...FIELD_CASES, ...TOGETHER_CASES];

function judge(body: string) {
  const delivery = readDelivery(body);
  if ('unreadable' in delivery) return 'dropped';
  if ('answerable' in delivery) return { refused: 'invalid_payload', detail: '' };
  return judgeTask(delivery.frame, { nodeId: NODE_ID, fence: SEEN_FENCE, isInterrupted: false, now: NOW });
}

describe('A hostile task', () => {
  it.each(CASES)('is refused, and not told its own words: $name', (hostile) => {
    const { value, code = 'invalid_payload' } = hostile;
    const judged = judge(bodyOf(hostile));
    expect(judged).toMatchObject({ refused: code });
    const { detail } = judged as { detail: string };
    expect(detail.length).toBeLessThan(500);
    if (typeof value === 'string' && value.length >= 8) expect(detail).not.toContain(value);
  });

  it.each(BODY_CASES)('is dropped where it is no task: %s', (_, body) => {
    expect(judge(body)).toBe('dropped');
  });

  it.each(SAMPLE_NAMES)('is one thing away from a good one: %s', (sample) => {
    expect(judge(JSON.stringify(sampleOf(sample)))).toMatchObject({ task: { node_id: NODE_ID } });
  });

  it('is one of at least 400, each different', () => {
    const bodies = [...CASES.map(bodyOf), ...BODY_CASES.map(([, body]) => body)];
    expect(new Set(bodies).size).toBe(bodies.length);
    expect(bodies.length).toBeGreaterThanOrEqual(400);
  });

  it('changes nothing that other objects inherit', () => {
    for (const hostile of CASES) judge(bodyOf(hostile));
    expect(({} as Record<string, unknown>)['privileged']).toBeUndefined();
    expect(({} as Record<string, unknown>)['root']).toBeUndefined();
  });
});
