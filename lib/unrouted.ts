import { Construct } from 'constructs';
import { PlatformFunction } from './platform-function.ts';

/** Answers what no route takes. It knows the routes and nothing else, so it needs no permission but its log. */
export class Unrouted extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/unrouted/api.ts',
      description: 'Answers requests for which there is no route: with 404, 405 or what a path takes.',
      // Enough for all that the stage lets through: an answer takes a millisecond or two.
      concurrencyMax: 10,
    });
  }
}
