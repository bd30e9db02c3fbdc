import { buildApp } from '../lib/app.ts';
import { configOf } from '../lib/config.ts';
import { checkLimits } from '../lib/local/limits/check-limits.ts';
import { readAssembly } from '../lib/local/template/assembly.ts';

// Both variables are the CDK command line's own.
const { CDK_OUTDIR: outdir = 'cdk.out', CDK_VALIDATION: validation } = process.env;

const app = buildApp({ outdir, validate: validation !== 'false' });
const { directory } = app.synth();
checkLimits(readAssembly(directory), { concurrencyQuota: configOf(app).lambdaConcurrencyQuota });
