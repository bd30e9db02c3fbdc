import { buildApp } from '../lib/app.ts';

// Both variables are the CDK command line's own.
const { CDK_OUTDIR: outdir = 'cdk.out', CDK_VALIDATION: validation } = process.env;

buildApp({ outdir, validate: validation !== 'false' }).synth();
