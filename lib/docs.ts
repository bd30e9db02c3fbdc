import { Construct } from 'constructs';
import { PlatformFunction } from './platform-function.ts';

/** The API described, for programs and for people. It knows only itself, so it is granted nothing but its log. */
export class Docs extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/docs/api.ts',
      description:
        'Serves the OpenAPI document and its web page, the AsyncAPI document, and the schema of manifests.',
      concurrencyMax: 10,
    });
  }
}
