import * as v from 'valibot';

/** What a workflow hands to its last step: the error it caught, as Step Functions spells it. */
export const WorkflowError = v.object({ Error: v.string(), Cause: v.optional(v.string(), '') });

export type WorkflowError = v.InferOutput<typeof WorkflowError>;

/** A function's error arrives as JSON text in the cause; its message is what a person wants to read. */
export function causeOf({ Error: code, Cause: cause }: WorkflowError): string {
  const thrown = v.safeParse(
    v.pipe(v.string(), v.parseJson(), v.object({ errorMessage: v.string() })),
    cause,
  );
  if (thrown.success) return thrown.output.errorMessage;
  return cause || (code.endsWith('Timeout') ? 'No answer came in time.' : 'The workflow reported no cause.');
}
