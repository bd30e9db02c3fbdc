import { App, DefaultStackSynthesizer, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import cdk from '../cdk.json' with { type: 'json' };
import manifest from '../package.json' with { type: 'json' };
import { DataStack } from './data-stack.ts';
import { PlatformStack } from './platform-stack.ts';

export interface BuildOptions {
  outdir: string;
  context?: Record<string, unknown>;
  /** The cdk-nag checks take half of the time, so a local start leaves them to `npm run synth` and the tests. */
  validate?: boolean;
}

/** The whole platform. The CDK command line, the local engine and the tests all synthesize this one app. */
export function buildApp({ outdir, context, validate = true }: BuildOptions): App {
  const app = new App({
    outdir,
    // The command line reads cdk.json itself; synthesized in process, the app must not come out differently.
    context: { ...cdk.context, ...context },
    analyticsReporting: false,
    treeMetadata: false,
    builtinCloudFormationValidation: validate,
    defaultStackSynthesizer: new DefaultStackSynthesizer({ generateBootstrapVersionRule: false }),
  });

  const data = new DataStack(app, 'GpuaasData', {
    description: 'GPUaaS App Platform: data that must never be lost.',
    terminationProtection: true,
  });
  new PlatformStack(app, 'GpuaasPlatform', {
    description: 'GPUaaS App Platform: everything that can be deployed again.',
    data,
    version: manifest.version,
  });

  if (validate) Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}
