import { existsSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { attach, type Attached } from '../signing/attach.ts';
import { describeFile, uploadFile, type FileIntent } from '../signing/files.ts';
import { inspectEnvelope } from '../signing/inspect-envelope.ts';
import { signDescriptor, type Descriptor } from '../signing/notation.ts';
import { signPredicate } from '../signing/provenance.ts';
import { openRegistry, type RegistryAccess } from '../signing/registry-access.ts';
import { keySigner, type Signer } from '../signing/signer.ts';
import { SigningError } from '../signing/signing-error.ts';
import { requireSigningChain } from '../signing/signing-chain.ts';
import { readNamedFile, readNamedJson, unreadableFile } from './named-file.ts';
import { readExpiry, readImageName, requireSense, type ImageName, type SignOptions } from './sign-options.ts';
import { answer, tell, type Streams } from './streams.ts';

const PASSWORD_VARIABLE = 'GPUAAS_REGISTRY_PASSWORD';

/** `gpuaas artifact sign`: an image by its digest, or a file. */
export async function signArtifact(what: string, options: SignOptions, streams: Streams): Promise<void> {
  const image = readImageName(what);
  requireSense(options, image !== undefined);
  if (image === undefined && !existsSync(what)) throw unnamed(what);
  const now = new Date();
  const expiresAt = readExpiry(options.expires, now);
  const signer = await openSigner(options);
  requireSigningChain(signer.chain, now);
  const sign = async (subject: Descriptor, name: string) => ({
    signature: await signDescriptor(subject, signer, { signedAt: now, expiresAt }),
    provenance: await readProvenance(options.provenance, subject, name, signer),
  });

  if (image === undefined) await signFile(what, options, streams, sign);
  else await signImage(image, options, streams, sign);
}

type Sign = (subject: Descriptor, name: string) => Promise<{ signature: Buffer; provenance?: Buffer }>;

async function signImage(
  image: ImageName,
  options: SignOptions,
  streams: Streams,
  sign: Sign,
): Promise<void> {
  const { host, repository, digest } = image;
  const registry = openRegistry({ host, credentials: await readCredentials(options, streams) });
  const subject = await describeImage(registry, image);
  const { signature, provenance } = await sign(subject, repository);
  const attached = await attach({ registry, repository, subject, signature, provenance });
  if (options.output !== undefined) writeEnvelopes(options.output, signature, provenance);
  tell(streams, options, `Signed ${host}/${repository}@${digest}. Now register the digest and verify it.`);
  answer(streams, options, { ...viewSubject(subject), ...viewAttached(attached) }, [
    `signature ${attached.signature}`,
    ...(attached.provenance === undefined ? [] : [`provenance ${attached.provenance}`]),
  ]);
}

const viewSubject = ({ mediaType, digest, size }: Descriptor) => ({
  media_type: mediaType,
  digest,
  size_bytes: size,
});

const viewAttached = ({ signature, provenance, listedBy }: Attached) => ({
  signature,
  ...(provenance !== undefined && { provenance }),
  listed_by: listedBy,
});

async function describeImage(
  registry: RegistryAccess,
  { repository, digest }: ImageName,
): Promise<Descriptor> {
  const found = await registry.headManifest(repository, digest);
  if (found !== undefined) return found;
  if (await registry.hasBlob(repository, digest))
    throw new SigningError(
      'not_found',
      `${digest} is a layer or a config in ${repository}, not an image.`,
      'Name the digest that docker push printed, or that skopeo inspect shows.',
    );
  const advice = 'Push the image first, and name the digest that the push printed.';
  throw new SigningError('not_found', `${repository} has no image ${digest}.`, advice);
}

async function signFile(path: string, options: SignOptions, streams: Streams, sign: Sign): Promise<void> {
  const intent = options.intent === undefined ? undefined : readIntent(options.intent);
  const subject = await describeFile(path).catch((error: unknown) => {
    throw unreadableFile(path, error);
  });
  const { signature, provenance } = await sign(subject, basename(path));
  const written = writeEnvelopes(options.output ?? `${path}.jws.sig`, signature, provenance);
  if (intent !== undefined) await uploadFile({ path, intent, signature, provenance });
  const next =
    intent === undefined
      ? 'Now upload the file with its signature, and register'
      : 'The file was uploaded. Now register';
  tell(streams, options, `Signed ${path}. ${next} ${subject.digest}.`);
  answer(streams, options, { ...viewSubject(subject), ...written, uploaded: intent !== undefined }, [
    `signature ${written.signature}`,
    ...(written.provenance === undefined ? [] : [`provenance ${written.provenance}`]),
  ]);
}

/** Beside what was named: what proves a file has its name, and an ending that says what it is. */
function writeEnvelopes(path: string, signature: Buffer, provenance: Buffer | undefined) {
  const provenancePath = `${path.replace(/\.jws(?:\.sig)?$/, '')}.intoto.dsse`;
  writeFileSync(path, signature);
  if (provenance !== undefined) writeFileSync(provenancePath, provenance);
  return { signature: path, ...(provenance !== undefined && { provenance: provenancePath }) };
}

async function openSigner({ key, kmsKey, chain }: SignOptions): Promise<Signer> {
  const chainPem = readNamedFile(chain).toString('utf8');
  if (key !== undefined) return keySigner({ keyPem: readNamedFile(key).toString('utf8'), chainPem });
  // Half of what this command weighs, and most people have a file.
  const [{ KMSClient }, { kmsSigner }] = await Promise.all([
    import('@aws-sdk/client-kms'),
    import('../signing/kms-signer.ts'),
  ]);
  return kmsSigner({ client: new KMSClient(), keyId: kmsKey ?? '', chainPem });
}

/** A predicate is signed with the same key; an envelope that the build made itself goes along as it is. */
async function readProvenance(
  path: string | undefined,
  { digest }: Descriptor,
  name: string,
  signer: Signer,
): Promise<Buffer | undefined> {
  if (path === undefined) return undefined;
  const stated = readNamedJson(path) as Record<string, unknown>;
  if ('payloadType' in stated) {
    const bytes = readNamedFile(path);
    const envelope = inspectEnvelope(bytes);
    const digests = envelope.kind === 'provenance' ? envelope.subjects : [];
    if (digests.some((subject) => `sha256:${subject.digest['sha256']}` === digest)) return bytes;
    throw new SigningError(
      'failed',
      `${path} is a statement about something other than ${digest}.`,
      'Give the statement of the build that made this artifact.',
    );
  }
  if ('buildDefinition' in stated && 'runDetails' in stated) {
    return signPredicate({ digest, name, predicate: stated }, signer);
  }
  throw new SigningError(
    'failed',
    `${path} has no SLSA provenance.`,
    'Give a predicate (v1) with buildDefinition and runDetails, or a DSSE envelope of the build.',
  );
}

/** Never from the command line: that is for everybody on the machine to read. */
async function readCredentials(
  { registryUser: username, registryPasswordStdin = false }: SignOptions,
  streams: Streams,
): Promise<{ username: string; password: string } | undefined> {
  if (username === undefined && !registryPasswordStdin) return undefined;
  const password = registryPasswordStdin ? await streams.read() : process.env[PASSWORD_VARIABLE];
  if (username !== undefined && password) return { username, password: password.trimEnd() };
  throw new SigningError(
    'usage',
    'The user and the password must be given together.',
    `Give --registry-user, and the password with --registry-password-stdin or in ${PASSWORD_VARIABLE}.`,
  );
}

function readIntent(path: string): FileIntent {
  const intent = readNamedJson(path) as Partial<FileIntent>;
  const { upload_path, signature_upload_path, provenance_upload_path, upload_headers = {} } = intent;
  if (upload_path && signature_upload_path && provenance_upload_path) {
    return { upload_path, signature_upload_path, provenance_upload_path, upload_headers };
  }
  throw new SigningError(
    'failed',
    `${path} is not the answer of a publish intent for a file.`,
    'Save the answer of POST …/app-artifacts/publish-intents with "artifact_kind": "blob", and give that file.',
  );
}

function unnamed(what: string): SigningError {
  return /[:@]/.test(what)
    ? new SigningError(
        'usage',
        `“${what}” is neither a file nor an image by its digest.`,
        'Name an image as <registry>/<repository>@sha256:<digest>; a tag can be moved after it was signed.',
      )
    : new SigningError('not_found', `There is no file ${what}.`, 'Check the path.');
}
