import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { PROBLEMS, type ProblemCode } from '../../functions/problems.ts';
import { refusing } from '../../functions/platform/errors.ts';
import { parse } from '../../functions/platform/parse.ts';
import { problemOf } from '../../functions/platform/http/problem.ts';

const refuse = refusing(PROBLEMS);
const codes = Object.keys(PROBLEMS) as ProblemCode[];

describe('a problem', () => {
  test.each(codes)('%s has the status, title and retryability of its code', (code) => {
    expect(problemOf(refuse(code), 'look-1')).toEqual({
      type: `urn:gpuaas:problem:${code}`,
      ...PROBLEMS[code],
      code,
      correlation_id: 'look-1',
    });
  });

  test('of an unknown error tells nothing of the cause', () => {
    const problem = problemOf(new Error('the password is 1234'), 'look-1');
    expect(problem).toMatchObject({ code: 'internal', status: 500, retryable: false });
    expect(JSON.stringify(problem)).not.toContain('1234');
  });

  test('of a service that does not answer asks to come again', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    expect(problemOf(refused, 'look-1')).toMatchObject({ code: 'unavailable', status: 503, retryable: true });
  });

  test('of bad input lists every fault by pointer and never echoes what was sent', () => {
    const schema = v.strictObject({
      name: v.string(),
      ports: v.array(v.number()),
      'a/b': v.pipe(v.string(), v.uuid()),
    });
    let thrown: unknown;
    try {
      parse(schema, { name: 7, ports: [1, 'planted'], 'a/b': 'planted', extra: 'planted' });
    } catch (error) {
      thrown = error;
    }
    const problem = problemOf(thrown, 'look-1');
    expect(problem.errors?.map(({ pointer }) => pointer)).toEqual(['/name', '/ports/1', '/a~1b', '/extra']);
    expect(JSON.stringify(problem)).not.toContain('planted');
  });
});
