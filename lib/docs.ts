import { Construct } from 'constructs';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';

/** The API described, for programs and for people. It knows only itself, so it is granted nothing but its log. */
export class Docs extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string, { kernel }: { kernel: Kernel }) {
    super(scope, id);
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/docs/api.ts',
      description: 'Answers with the OpenAPI document and the page made of it.',
      environment: kernel.environment,
      concurrencyMax: 10,
    });
  }
}
