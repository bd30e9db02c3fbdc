import * as v from 'valibot';
import { AwsError, type Access } from '../wire/aws.ts';

export interface Operation {
  access(body: Record<string, unknown>): Access;
  answer(body: unknown): unknown;
}

export function operation<S extends v.GenericSchema>(
  action: string,
  resource: (body: Record<string, unknown>) => string,
  schema: S,
  answer: (body: v.InferOutput<S>) => unknown,
): Operation {
  return {
    access: (body) => ({ action, resource: resource(body) }),
    answer: (body) => {
      const parsed = v.safeParse(schema, body);
      if (parsed.success) return answer(parsed.output);
      const problems = parsed.issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`);
      throw new AwsError(
        'ValidationException',
        `${problems.length} validation error detected: ${problems.join('; ')}`,
      );
    },
  };
}

export const Arn = v.pipe(v.string(), v.minLength(1), v.maxLength(256));
export const Payload = v.pipe(v.string(), v.maxLength(262_144));
export const ErrorName = v.optional(v.pipe(v.string(), v.maxLength(256)));
export const Cause = v.optional(v.pipe(v.string(), v.maxLength(32_768)));
export const Page = {
  maxResults: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1000))),
  nextToken: v.optional(v.string()),
};

export function parseJson(text: string, code: string, title: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AwsError(code, `${title}: '${(error as Error).message}'`);
  }
}
