import { Command } from 'commander';
import { KEY_TYPES } from '../signing/algorithms.ts';
import { createDevelopmentCertificate, type CreateOptions } from './create-development-certificate.ts';
import { inspectArtifact } from './inspect-artifact.ts';
import { login, type LoginOptions } from './login.ts';
import { logout } from './logout.ts';
import { printToken } from './print-token.ts';
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

const LOGIN_EXAMPLES = `
Examples:
  $ gpuaas login --issuer https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc --client 4f8…
  $ curl -H "Authorization: Bearer $(gpuaas token)" https://<api>/api/v1/me
${ENDINGS}`;

/** The command line as a tree of nouns and verbs. */
export function createProgram(streams: Streams): Command {
  const program = new Command('gpuaas')
    .description('Signs people in, and signs images and files, following the Notary Project and SLSA.')
    .addHelpText('after', ENDINGS)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => streams.print(text.trimEnd()),
      writeErr: (text) => streams.tell(text.trimEnd()),
    })
    .showHelpAfterError('Add --help to see the commands and options.');

  answering(program.command('login'))
    .description('Signs you in with a browser, or with a code that you type in a browser elsewhere.')
    .option(
      '--issuer <address>',
      'where people sign in (or GPUAAS_ISSUER; default: the platform that runs here)',
    )
    .option('--client <id>', 'the client of the command line there (or GPUAAS_CLIENT)')
    .option('--device', 'by a code that you type in a browser on another machine')
    .option('--data <folder>', 'the data folder of the platform that runs here', '.data')
    .addHelpText('after', LOGIN_EXAMPLES)
    .action((options: LoginOptions) => login(options, streams));
  answering(program.command('token'))
    .description('Prints an access token of whoever is signed in, renewed if need be.')
    .action((options: Answering) => printToken(options, streams));
  answering(program.command('logout'))
    .description('Forgets the tokens and ends the session they came from.')
    .action((options: Answering) => logout(options, streams));

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
