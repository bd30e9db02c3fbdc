import { AwsError, jsonAnswer, jsonBody, jsonOperation, type AwsRequest, type Service } from '../wire/aws.ts';
import type { Operation } from './operation.ts';

/** The Step Functions API, as far as standard workflows of this platform use it. */
export function stepFunctionsService(operations: Record<string, Operation>): Service {
  const find = (request: AwsRequest): { operation: Operation; body: Record<string, unknown> } => {
    const name = jsonOperation(request);
    const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
    if (operation) return { operation, body: jsonBody(request) ?? {} };
    throw new AwsError('UnknownOperationException', `Step Functions here has no operation ${name}.`);
  };
  return {
    scope: 'states',
    protocol: 'json-1.0',
    access: (request) => {
      const { operation, body } = find(request);
      return [operation.access(body)];
    },
    handle: async (request) => {
      const { operation, body } = find(request);
      return jsonAnswer(operation.answer(body));
    },
  };
}
