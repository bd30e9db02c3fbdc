import { Construct } from 'constructs';
import { PlatformFunction } from './platform-function.ts';

/** The documentation of the API. Its function contains the documents, so it needs no permission but its log. */
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
