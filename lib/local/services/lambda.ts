import { ACCOUNT, AwsError, REGION, type AwsRequest, type AwsResponse, type Service } from '../wire/aws.ts';
import { functionName, type Functions } from '../lambda/functions.ts';

const INVOCATIONS = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;

/** The one call of Lambda's API that the platform makes: Invoke. */
export function createLambdaService(functions: Functions): Service {
  return {
    scope: 'lambda',
    protocol: 'rest-json',
    access: (request) => {
      const name = invokedName(request);
      const resource = functions.get(name)?.arn ?? `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}`;
      return [{ action: 'lambda:InvokeFunction', resource }];
    },
    handle: async (request) => {
      const name = invokedName(request);
      const type = request.headers['x-amz-invocation-type'] ?? 'RequestResponse';
      switch (type) {
        case 'RequestResponse':
          return invoke(functions, name, request.body);
        case 'Event':
          functions.invokeAsync(name, request.body);
          return { status: 202 };
        case 'DryRun':
          if (!functions.get(name))
            throw new AwsError('ResourceNotFoundException', `Function not found: ${name}`, 404);
          return { status: 204 };
        default:
          throw new AwsError('InvalidParameterValueException', `Unknown invocation type: ${type}`);
      }
    },
  };
}

async function invoke(functions: Functions, name: string, payload: Buffer): Promise<AwsResponse> {
  const invocation = await functions.invoke(name, payload);
  return {
    status: 200,
    headers: {
      'content-type': 'application/json',
      'x-amz-executed-version': '$LATEST',
      ...(invocation.ok ? {} : { 'x-amz-function-error': 'Unhandled' }),
    },
    body: invocation.payload,
  };
}

function invokedName({ method, path }: AwsRequest): string {
  const name = INVOCATIONS.exec(path)?.[1];
  if (method !== 'POST' || name === undefined) {
    throw new AwsError(
      'UnknownOperationException',
      `${method} ${path} is not served: of Lambda's API only Invoke is.`,
      404,
    );
  }
  return functionName(decode(name));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AwsError('ValidationException', `${text} is not the name of a function.`);
  }
}
