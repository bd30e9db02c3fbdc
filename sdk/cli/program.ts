import { Command } from 'commander';
import { KEY_TYPES } from '../signing/algorithms.ts';
import { createDevelopmentCertificate, type CreateOptions } from './create-development-certificate.ts';
import { inspectArtifact } from './inspect-artifact.ts';
import { signArtifact } from './sign-artifact.ts';
import type { SignOptions } from './sign-options.ts';
import type { Answering, Streams } from './streams.ts';

const ENDINGS = `
Data goes to standard output, messages to standard error. Exits with 0 on success, 1 on failure, 2 if the
command line is not valid, 3 if a credential was refused, 4 if something was not found, 5 if something already exists
or conflicts.`;

const SIGN_EXAMPLES = `
Examples:
  $ echo "$PASSWORD" | gpuaas artifact sign "$REGISTRY/gpuaas/apps/acme/chat@$DIGEST" \\
      --key dev/key.pem --chain dev/chain.pem --registry-user AWS --registry-password-stdin
  $ gpuaas artifact sign weights.bin --kms-key alias/release --chain release.pem --intent intent.json
${ENDINGS}`;

/** The command line as a tree of nouns and verbs. */
export function createProgram(streams: Streams): Command {
  const program = new Command('gpuaas')
    .description('Signs images and files of app teams, following the Notary Project and SLSA.')
    .addHelpText('after', ENDINGS)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => streams.print(text.trimEnd()),
      writeErr: (text) => streams.tell(text.trimEnd()),
    })
    .showHelpAfterError('Add --help to see the commands and options.');

  const artifact = program
    .command('artifact')
    .description('Images and files, their signatures and their provenance.');
  answering(artifact.command('sign'))
    .description(
      'Signs an image and attaches the signature in its registry, or signs a file and writes the signature next to it.',
    )
    .argument('<what>', '<registry>/<repository>@sha256:<digest>, or the path of a file')
    .requiredOption('--chain <file>', "certificates in PEM: the signer's own first, the root last")
    .option('--key <file>', 'private key in PEM')
    .option('--kms-key <id>', 'or the id, ARN or alias of a key in AWS KMS')
    .option('--provenance <file>', 'SLSA predicate (v1) to sign as well, or a DSSE envelope the build made')
    .option(
      '--expires <time>',
      'how long the signature is valid, such as 90d or 12h (default: as long as the certificates)',
    )
    .option('--output <file>', 'where to write the envelope (default for a file: <file>.jws.sig)')
    .option('--registry-user <name>', 'the user to log in to the registry with')
    .option(
      '--registry-password-stdin',
      'read the password from standard input (or set GPUAAS_REGISTRY_PASSWORD)',
    )
    .option('--manifest <file>', 'the manifest exactly as it was pushed, if the credential may not read it')
    .option(
      '--replace-referrers',
      'replace a list of signatures that cannot be read by one with only this signature',
    )
    .option(
      '--intent <file>',
      'the answer of a publish intent: uploads the file with its signature and provenance',
    )
    .addHelpText('after', SIGN_EXAMPLES)
    .action((what: string, options: SignOptions) => signArtifact(what, options, streams));

  answering(artifact.command('inspect'))
    .description('Shows the content of a signature or a provenance, without verifying it.')
    .argument('<envelope>', 'a file that “gpuaas artifact sign” wrote')
    .action((path: string, options: Answering) => inspectArtifact(path, options, streams));

  const certificate = program.command('certificate').description('Certificates to sign with.');
  answering(certificate.command('create-dev'))
    .description('Creates a key, its certificate and a root for development. Nothing is overwritten.')
    .requiredOption(
      '--organisation <name>',
      'the organisation that signs; a trust policy accepts the signer by this name',
    )
    .requiredOption('--out <folder>', 'where key.pem, chain.pem and root.pem are written')
    .option('--common-name <name>', 'the name of the signer', 'development')
    .option('--key-type <type>', KEY_TYPES.join(', '), 'P-256')
    .action((options: CreateOptions) => createDevelopmentCertificate(options, streams));

  return program;
}

const answering = (command: Command): Command =>
  command.option('--json', 'print one JSON document').option('--quiet', 'print only errors');
