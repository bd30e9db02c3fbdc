import { AwsError } from '../wire/aws.ts';
import type { Iam } from '../iam/iam.ts';
import type { Functions } from '../lambda/functions.ts';
import { say } from '../wire/say.ts';
import type { RouteSpec } from './apis.ts';

export type Integrated =
  | { kind: 'answered'; payload: Buffer }
  /** The function failed, or could not be invoked. */
  | { kind: 'failed' }
  | { kind: 'throttled' }
  | { kind: 'too-large' }
  | { kind: 'late' };

export interface IntegrationCall {
  route: RouteSpec;
  /** What a Lambda permission for this route is written for. */
  sourceArn: string;
  event: object;
  secondsMax: number;
}

/** Invokes the function behind a route as API Gateway does: by a permission of the function, and not for ever. */
export class Integration {
  #functions: Functions;
  #iam: Iam;

  constructor(functions: Functions, iam: Iam) {
    this.#functions = functions;
    this.#iam = iam;
  }

  async call({ route, sourceArn, event, secondsMax }: IntegrationCall): Promise<Integrated> {
    try {
      this.#iam.authorizeServicePrincipal('apigateway.amazonaws.com', {
        action: 'lambda:InvokeFunction',
        resource: route.functionArn,
        context: { 'aws:SourceArn': sourceArn },
      });
      const payload = Buffer.from(JSON.stringify(event));
      const invocation = await within(secondsMax, this.#functions.invoke(route.functionArn, payload));
      if (invocation === undefined) {
        say('gateway', `${route.key} took longer than the ${secondsMax} s API Gateway waits.`);
        return { kind: 'late' };
      }
      if (invocation.ok) return { kind: 'answered', payload: invocation.payload };
      say('gateway', `${route.key} failed: ${invocation.errorType}: ${invocation.errorMessage}`);
      return { kind: 'failed' };
    } catch (error) {
      say('gateway', `${route.key} could not be invoked: ${(error as Error).message}`);
      if (!(error instanceof AwsError)) return { kind: 'failed' };
      if (error.code === 'TooManyRequestsException') return { kind: 'throttled' };
      return { kind: error.code === 'RequestEntityTooLargeException' ? 'too-large' : 'failed' };
    }
  }
}

async function within<T>(seconds: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, seconds * 1000, undefined);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
