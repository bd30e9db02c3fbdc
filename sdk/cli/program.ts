import { Command } from 'commander';
import { KEY_TYPES } from '../algorithms.ts';
import { createDevelopmentCertificate, type CreateOptions } from './create-development-certificate.ts';
import { inspectArtifact } from './inspect-artifact.ts';
import { signArtifact } from './sign-artifact.ts';
import type { SignOptions } from './sign-options.ts';
import type { Answering, Streams } from './streams.ts';

const ENDINGS = `
Data goes to standard output, messages to standard error. Ends with 0 when it is done, 1 when it failed, 2 when the
command line makes no sense, 3 when a credential was refused, 4 when something is not there, 5 when something is in
the way.`;

const SIGN_EXAMPLES = `
Examples:
  $ echo "$PASSWORD" | gpuaas artifact sign "$REGISTRY/gpuaas/apps/acme/chat@$DIGEST" \\
      --key dev/key.pem --chain dev/chain.pem --registry-user AWS --registry-password-stdin
  $ gpuaas artifact sign weights.bin --kms-key alias/release --chain release.pem --intent intent.json
${ENDINGS}`;

/** The command line as a tree of nouns and verbs. */
export function createProgram(streams: Streams): Command {
  const program = new Command('gpuaas')
    .description('Signs what app teams publish, the way the Notary Project and SLSA say.')
    .addHelpText('after', ENDINGS)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => streams.print(text.trimEnd()),
      writeErr: (text) => streams.tell(text.trimEnd()),
    })
    .showHelpAfterError('Add --help to see what there is.');

  const artifact = program
    .command('artifact')
    .description('Images and files, and what proves where they come from.');
  answering(artifact.command('sign'))
    .description(
      'Signs an image and attaches the signature in its registry, or signs a file and writes the signature beside it.',
    )
    .argument('<what>', '<registry>/<repository>@sha256:<digest>, or the path of a file')
    .requiredOption('--chain <file>', "certificates in PEM: the signer's own first, the root last")
    .option('--key <file>', 'private key in PEM')
    .option('--kms-key <id>', 'or the id, ARN or alias of a key in AWS KMS')
    .option('--provenance <file>', 'SLSA predicate (v1) to sign as well, or a DSSE envelope the build made')
    .option(
      '--expires <time>',
      'how long the signature counts, such as 90d or 12h (default: as long as the certificates)',
    )
    .option('--output <file>', 'where to write the envelope (default for a file: <file>.jws.sig)')
    .option('--registry-user <name>', 'who logs in to the registry')
    .option(
      '--registry-password-stdin',
      'read the password from standard input (or set GPUAAS_REGISTRY_PASSWORD)',
    )
    .option('--manifest <file>', 'the manifest as it was pushed, for a credential that may not read it')
    .option('--replace-referrers', 'write a list of this signature alone, over one that cannot be read')
    .option('--intent <file>', 'the answer of a publish intent: uploads the file with what proves it')
    .addHelpText('after', SIGN_EXAMPLES)
    .action((what: string, options: SignOptions) => signArtifact(what, options, streams));

  answering(artifact.command('inspect'))
    .description('Shows what a signature or a provenance says, without judging it.')
    .argument('<envelope>', 'a file that “gpuaas artifact sign” wrote')
    .action((path: string, options: Answering) => inspectArtifact(path, options, streams));

  const certificate = program.command('certificate').description('Certificates to sign with.');
  answering(certificate.command('create-dev'))
    .description('Makes a key, its certificate and a root for development. Nothing is overwritten.')
    .requiredOption('--organisation <name>', 'who signs; a trust policy accepts it by this name')
    .requiredOption('--out <folder>', 'where key.pem, chain.pem and root.pem are written')
    .option('--common-name <name>', 'the name of the signer', 'development')
    .option('--key-type <type>', KEY_TYPES.join(', '), 'P-256')
    .action((options: CreateOptions) => createDevelopmentCertificate(options, streams));

  return program;
}

const answering = (command: Command): Command =>
  command.option('--json', 'answer with one JSON document').option('--quiet', 'no messages but errors');
