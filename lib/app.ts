import { App, DefaultStackSynthesizer, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import cdk from '../cdk.json' with { type: 'json' };
import manifest from '../package.json' with { type: 'json' };
import { DataStack } from './data-stack.ts';
import { CoreStack } from './core-stack.ts';
import { CatalogStack } from './catalog-stack.ts';
import { ArtifactsStack } from './artifacts-stack.ts';
import { HostsStack } from './hosts-stack.ts';
import { SelftestStack } from './selftest-stack.ts';
import { AlarmsStack } from './alarms-stack.ts';
import { configOf } from './config.ts';
import { FirewallStack, FrontStack } from './front-stack.ts';

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
    terminationProtection: configOf(app).deletionProtection,
  });
  // From here on, everything can be deployed again; each stack depends only on those above it.
  const core = new CoreStack(app, 'GpuaasCore', {
    description: 'GPUaaS App Platform: API, sockets, events and identity.',
    data,
  });
  new CatalogStack(app, 'GpuaasCatalog', {
    description: 'GPUaaS App Platform: apps, their manifests and versions, and who may launch them.',
    data,
    core,
  });
  new ArtifactsStack(app, 'GpuaasArtifacts', {
    description: 'GPUaaS App Platform: publishing, trust and retention of what apps are made of.',
    data,
    core,
  });
  new HostsStack(app, 'GpuaasHosts', {
    description: 'GPUaaS App Platform: hosts, what they do, and what projects hold of them.',
    data,
    core,
    version: manifest.version,
  });
  new SelftestStack(app, 'GpuaasSelftest', {
    description: 'GPUaaS App Platform: the self-test.',
    core,
    version: manifest.version,
  });
  const { front, domain } = configOf(app);
  if (front && domain) {
    const firewall = new FirewallStack(app, 'GpuaasFirewall', {
      description: 'GPUaaS App Platform: the firewall of the front.',
    });
    new FrontStack(app, 'GpuaasFront', {
      description: 'GPUaaS App Platform: CloudFront in front of API and sockets.',
      core,
      domain,
      firewall,
    });
  }
  new AlarmsStack(app, 'GpuaasAlarms', {
    description: 'GPUaaS App Platform: alarms on all other stacks.',
  });

  if (validate) Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}
