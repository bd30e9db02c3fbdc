// Artifacts that are signed as they should be, and built by somebody else, somewhere else, from something else.

import { createPublicKey, hash, type KeyObject, sign } from 'node:crypto';
import type { Builder, TrustPolicy } from '../../functions/trust/trust-policy.ts';
import type { Question } from '../../functions/trust/trust.ts';
import type { Attachment, Descriptor, TrustFault } from '../../functions/trust/verification.ts';
import { signAs } from './admission-kit.ts';
import {
  ask,
  BUILD_TYPE,
  BUILDER_ID,
  draftEnvelope,
  DSSE,
  flip,
  type Kit,
  keyOf,
  kitOf,
  makeKits,
  type Mutation,
  places,
  policyFor,
  publicPem,
  random,
  SOURCE,
} from './admission-kit.ts';

type Members = Record<string, unknown>;

/** A builder signs with a key of the same kind as the signer's, but with its own. */
const builderKey = ({ keyType }: Kit): KeyObject =>
  keyOf(keyType === 'RSA-4096' ? 'RSA-3072' : keyType, 'builder');

export function builderOf(kit: Kit, change: Partial<Builder> = {}): Builder {
  return {
    builder_id: BUILDER_ID,
    build_types: [BUILD_TYPE],
    public_keys: [publicPem(builderKey(kit))],
    external_parameters: ['target', 'platforms'],
    source_parameter: 'source',
    ...change,
  };
}

export function buildingPolicy(kit: Kit, change: Partial<TrustPolicy['provenance']> = {}): TrustPolicy {
  return policyFor(kit.root.certificate, {
    provenance: {
      required: true,
      builders: [builderOf(kit)],
      source_repositories: ['git+https://code.example/team/*'],
      ...change,
    },
  });
}

export interface Statement extends Members {
  subject: [{ name: string; digest: { sha256: string } }];
  predicate: { buildDefinition: Members; runDetails: Members };
}

export function goodStatement({ digest }: Pick<Descriptor, 'digest'>): Statement {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: 'demo', digest: { sha256: digest.slice(7) } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { source: { uri: SOURCE }, target: 'release' },
        internalParameters: { runner: 'large' },
        resolvedDependencies: [{ uri: SOURCE, digest: { gitCommit: 'a'.repeat(40) } }],
      },
      runDetails: { builder: { id: BUILDER_ID }, metadata: { invocationId: '1' } },
    },
  };
}

interface Draft {
  type: string;
  key: KeyObject;
  keyid: unknown;
  sign: (input: Buffer) => Buffer;
  finish: (envelope: Members) => unknown;
}

export function draftStatement(kit: Kit, statement: unknown, draft: Partial<Draft> = {}): Buffer {
  const { type = 'application/vnd.in-toto+json', key = builderKey(kit) } = draft;
  const payload = Buffer.from(typeof statement === 'string' ? statement : JSON.stringify(statement));
  const input = Buffer.concat([
    Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `),
    payload,
  ]);
  const signature = draft.sign?.(input) ?? signDsse(kit, key, input);
  const envelope = {
    payload: payload.toString('base64'),
    payloadType: type,
    signatures: [{ keyid: draft.keyid ?? keyIdOf(key), sig: signature.toString('base64') }],
  };
  const finished = draft.finish?.(envelope) ?? envelope;
  return Buffer.from(typeof finished === 'string' ? finished : JSON.stringify(finished));
}

const keyIdOf = (key: KeyObject): string =>
  hash('sha256', createPublicKey(key).export({ type: 'spki', format: 'der' }));

function signDsse({ algorithm }: Kit, key: KeyObject, input: Buffer): Buffer {
  // The builder of the largest RSA signer has a key a size smaller.
  if (algorithm === 'PS512') return signAs('PS384', key, input);
  return algorithm.startsWith('PS')
    ? signAs(algorithm, key, input)
    : sign(`sha${algorithm.slice(2)}`, input, { key, dsaEncoding: 'der' });
}

export function askBuilt(
  kit: Kit,
  descriptor: Descriptor,
  statements: Buffer[],
  policy: TrustPolicy,
  mediaType = DSSE,
): Question {
  const question = ask(kit, descriptor, draftEnvelope(kit, descriptor), { policy });
  const provenances: Attachment[] = statements.map((bytes) => ({ mediaType, bytes }));
  return { ...question, evidence: { ...question.evidence, provenances } };
}

export function provenanceMutations(): Mutation[] {
  return [
    ...makeKits().flatMap((kit) => [...flippedBits(kit), ...otherSigners(kit)]),
    ...[kitOf('P-256'), kitOf('RSA-2048')].flatMap((kit) => [...otherStatements(kit), ...otherForms(kit)]),
  ];
}

function stated(
  kit: Kit,
  how: string,
  statement: (good: Statement, descriptor: Descriptor) => unknown,
  draft: Partial<Draft>,
  ...expects: TrustFault[]
): Mutation {
  return {
    how: `${kit.keyType}: provenance, ${how}`,
    ...(expects.length > 0 && { expects }),
    make: (descriptor) => {
      const bytes = draftStatement(kit, statement(goodStatement(descriptor), descriptor), draft);
      return askBuilt(kit, descriptor, [bytes], buildingPolicy(kit));
    },
  };
}

const asIs = (good: Statement): Statement => good;

function flippedBits(kit: Kit): Mutation[] {
  const next = random(kit.keyType.length + 29);
  const flipped = (
    how: string,
    change: (envelope: { payload: string; signatures: [{ sig: string }] }) => unknown,
  ) =>
    stated(
      kit,
      how,
      asIs,
      { finish: (envelope) => change(envelope as { payload: string; signatures: [{ sig: string }] }) },
      'provenance.signature',
    );
  return [
    ...places(100, 25).map((percent) => {
      const bit = next(8);
      return flipped(`bit ${bit} of the statement at ${percent}%`, (envelope) => {
        const bytes = Buffer.from(envelope.payload, 'base64');
        const place = Math.floor((bytes.length * percent) / 100);
        return { ...envelope, payload: flip(bytes, place, bit).toString('base64') };
      });
    }),
    ...places(100, 25).map((percent) => {
      const bit = next(8);
      return flipped(`bit ${bit} of the signature at ${percent}%`, (envelope) => {
        const [signature] = envelope.signatures;
        const bytes = Buffer.from(signature.sig, 'base64');
        const place = Math.floor((bytes.length * percent) / 100);
        return {
          ...envelope,
          signatures: [{ ...signature, sig: flip(bytes, place, bit).toString('base64') }],
        };
      });
    }),
  ];
}

function otherSigners(kit: Kit): Mutation[] {
  const stranger = keyOf('P-256', 'stranger builder');
  const own = builderKey(kit);
  return [
    stated(
      kit,
      "signed by a stranger, under a stranger's name",
      asIs,
      { key: stranger, sign: (input) => sign('sha256', input, stranger) },
      'provenance.signature',
    ),
    stated(
      kit,
      "signed by a stranger, under the builder's name",
      asIs,
      { keyid: keyIdOf(own), sign: (input) => sign('sha256', input, stranger) },
      'provenance.signature',
    ),
    stated(
      kit,
      "signed by the artifact's signer",
      asIs,
      { key: kit.signer.privateKey, sign: (input) => signDsseAs(kit, input) },
      'provenance.signature',
    ),
    stated(
      kit,
      'signed as if it were plain',
      (good) => good,
      {
        sign: (input) => sign('sha256', input.subarray(input.indexOf('{')), own),
      },
      'provenance.signature',
    ),
    stated(kit, 'not signed', asIs, { sign: () => Buffer.alloc(0) }, 'provenance.signature'),
    ...Object.entries({
      'no name': '',
      'another name': 'x',
      "a stranger's name": keyIdOf(stranger),
      'its name in capitals': keyIdOf(own).toUpperCase(),
      'its name with the hash before': `SHA256:${keyIdOf(own)}`,
      'its name with a blank': `${keyIdOf(own)} `,
    }).map(([how, keyid]) => stated(kit, `under ${how}`, asIs, { keyid }, 'provenance.signature')),
    ...[null, 5, []].map((keyid) =>
      stated(
        kit,
        `under the name ${JSON.stringify(keyid)}`,
        asIs,
        { finish: (envelope) => ({ ...envelope, signatures: [{ keyid, sig: 'AAAA' }] }) },
        'provenance.malformed',
      ),
    ),
  ];
}

function signDsseAs({ algorithm, signer }: Kit, input: Buffer): Buffer {
  return algorithm.startsWith('PS')
    ? signAs(algorithm, signer.privateKey, input)
    : sign(`sha${algorithm.slice(2)}`, input, { key: signer.privateKey, dsaEncoding: 'der' });
}

/** Signed by the builder's own key, and wrong. */
function otherStatements(kit: Kit): Mutation[] {
  const whole = (how: string, change: (good: Statement) => unknown, ...expects: TrustFault[]) =>
    stated(kit, how, change, {}, ...expects);
  const definition = (how: string, change: Members, ...expects: TrustFault[]) =>
    whole(
      how,
      (good) => ({
        ...good,
        predicate: { ...good.predicate, buildDefinition: { ...good.predicate.buildDefinition, ...change } },
      }),
      ...expects,
    );
  const run = (how: string, runDetails: unknown, ...expects: TrustFault[]) =>
    whole(how, (good) => ({ ...good, predicate: { ...good.predicate, runDetails } }), ...expects);
  const told = (how: string, externalParameters: unknown, ...expects: TrustFault[]) =>
    definition(how, { externalParameters }, ...expects);
  const from = (source: unknown) =>
    told(`from ${JSON.stringify(source)}`, { source, target: 'release' }, 'provenance.source');
  const strange = [undefined, null, 5, 'x', true];
  return [
    ...strange.map((value) =>
      whole(`_type ${value}`, (good) => ({ ...good, _type: value }), 'provenance.malformed'),
    ),
    ...[
      'https://in-toto.io/Statement/v0.1',
      'https://in-toto.io/Statement/v1 ',
      'https://in-toto.io/Statement/v2',
    ].map((_type) => whole(`_type ${_type}`, (good) => ({ ...good, _type }), 'provenance.malformed')),
    ...[
      ...strange,
      'https://slsa.dev/provenance/v0.2',
      'https://slsa.dev/provenance/v1.1',
      'https://spdx.dev/Document',
      'https://slsa.dev/verification_summary/v1',
    ].map((predicateType) =>
      whole(`predicateType ${predicateType}`, (good) => ({ ...good, predicateType }), 'provenance.malformed'),
    ),
    ...[...strange, [], {}].map((predicate) =>
      whole(
        `predicate ${JSON.stringify(predicate)}`,
        (good) => ({ ...good, predicate }),
        'provenance.malformed',
      ),
    ),
    ...[...strange, {}].map((subject) =>
      whole(`subject ${JSON.stringify(subject)}`, (good) => ({ ...good, subject }), 'provenance.malformed'),
    ),
    whole('about nothing', (good) => ({ ...good, subject: [] }), 'provenance.subject'),
    whole(
      'about something else',
      (good) => ({ ...good, subject: [{ digest: { sha256: '0'.repeat(64) } }] }),
      'provenance.subject',
    ),
    whole(
      'about it in capitals',
      (good) => ({
        ...good,
        subject: [{ digest: { sha256: good.subject[0].digest.sha256.toUpperCase() } }],
      }),
      'provenance.subject',
    ),
    whole(
      'about it by another algorithm',
      (good) => ({
        ...good,
        subject: [{ digest: { sha512: good.subject[0].digest.sha256 } }],
      }),
      'provenance.subject',
    ),
    whole(
      'about its name alone',
      (good) => ({ ...good, subject: [{ name: 'demo', digest: {} }] }),
      'provenance.subject',
    ),
    whole(
      'about it without digest',
      (good) => ({ ...good, subject: [{ name: 'demo' }] }),
      'provenance.malformed',
    ),
    ...[
      'https://builders.example/release/',
      'https://builders.example/Release',
      'https://builders.example/release?x',
      'https://builders.example/releas',
      'https://evil.example/release',
      '',
      '*',
    ].map((id) => run(`built by ${JSON.stringify(id)}`, { builder: { id } }, 'provenance.builder')),
    ...[...strange, [], {}].map((builder) =>
      run(`built by ${JSON.stringify(builder)}`, { builder }, 'provenance.malformed'),
    ),
    ...strange.map((details) => run(`run ${details}`, details, 'provenance.malformed')),
    ...['https://builders.example/container/v2', 'https://builders.example/container/v1/', '', 'v1'].map(
      (buildType) =>
        definition(`built as ${JSON.stringify(buildType)}`, { buildType }, 'provenance.build_type'),
    ),
    ...[undefined, null, 5, []].map((buildType) =>
      definition(`built as ${JSON.stringify(buildType)}`, { buildType }, 'provenance.malformed'),
    ),
    ...[
      'git+https://code.example/other/demo',
      'git+https://code.example/team',
      'git+https://code.example/team/',
      'git+https://code.example/teammate/demo',
      'git+https://code.example.evil.example/team/demo',
      'git+http://code.example/team/demo',
      'https://code.example/team/demo',
      'https://evil.example/?git+https://code.example/team/demo',
      ' git+https://code.example/team/demo',
      'git+https://code.example/team/../evil/demo',
      'git+https://code.example/team/demo/../../evil/demo',
      'git+https://code.example/team/./../evil',
      'git+https://code.example/team/%2e%2e/evil/demo',
      'git+https://code.example/team/..\\evil',
      'git+https://code.example/team/demo\u0000',
      'git+https://code.example/team/demo\n',
      'GIT+HTTPS://CODE.EXAMPLE/TEAM/DEMO',
      'git+https://code.example/team/*',
      '',
      null,
      5,
      true,
      [],
      [SOURCE],
      {},
      { uri: 5 },
      { uri: [SOURCE] },
      { url: SOURCE },
      { URI: SOURCE },
      { uri: 'git+https://code.example/other/demo' },
      { uri: { uri: SOURCE } },
    ].map(from),
    told('from nowhere', { target: 'release' }, 'provenance.source'),
    told('told nothing', {}, 'provenance.source'),
    ...['Source', 'source ', 'entrypoint', 'buildArgs', 'env', 'target2', ''].map((name) =>
      told(`told ${JSON.stringify(name)} besides`, { source: SOURCE, [name]: 'x' }, 'provenance.parameters'),
    ),
    ...['__proto__', 'constructor', 'prototype', 'toString', 'valueOf'].map((name) =>
      whole(
        `told ${name} besides`,
        (good) => JSON.stringify(good).replace('"target":', `"${name}":{},"target":`),
        'provenance.malformed',
      ),
    ),
    ...strange.map((value) => told(`told ${JSON.stringify(value)}`, value, 'provenance.malformed')),
    ...['_type', 'subject', 'predicateType', 'predicate'].map((name) =>
      whole(
        `${name} twice`,
        (good) => JSON.stringify(good).replace('{', `{"${name}":null,`),
        'provenance.malformed',
      ),
    ),
    whole(
      'source twice',
      (good) => JSON.stringify(good).replace('"source":', '"source":"x","source":'),
      'provenance.malformed',
    ),
    ...[' ', 'null', '[]', '"x"', '{', '{}', '5'].map((text) =>
      whole(`a statement of ${text}`, () => text, 'provenance.malformed'),
    ),
    whole('a statement in a list', (good) => [good], 'provenance.malformed'),
  ];
}

function otherForms(kit: Kit): Mutation[] {
  const form = (
    how: string,
    change: (envelope: Members & { signatures: Members[] }) => unknown,
    ...expects: TrustFault[]
  ) =>
    stated(
      kit,
      how,
      asIs,
      { finish: (envelope) => change(envelope as Members & { signatures: Members[] }) },
      ...(expects.length > 0 ? expects : (['provenance.malformed'] as const)),
    );
  const kept = (
    how: string,
    make: (descriptor: Descriptor) => Question,
    ...expects: TrustFault[]
  ): Mutation => ({
    how: `${kit.keyType}: provenance, ${how}`,
    expects,
    make,
  });
  const policy = (how: string, change: Partial<TrustPolicy['provenance']>, ...expects: TrustFault[]) =>
    kept(
      how,
      (descriptor) =>
        askBuilt(
          kit,
          descriptor,
          [draftStatement(kit, goodStatement(descriptor))],
          buildingPolicy(kit, change),
        ),
      ...expects,
    );
  return [
    kept('none', (descriptor) => askBuilt(kit, descriptor, [], buildingPolicy(kit)), 'provenance.none'),
    kept(
      'a signature in its place',
      (descriptor) => askBuilt(kit, descriptor, [draftEnvelope(kit, descriptor)], buildingPolicy(kit)),
      'provenance.malformed',
    ),
    kept(
      'of an artifact that is not signed',
      (descriptor) => {
        const question = askBuilt(
          kit,
          descriptor,
          [draftStatement(kit, goodStatement(descriptor))],
          buildingPolicy(kit),
        );
        return { ...question, evidence: { ...question.evidence, signatures: [] } };
      },
      'signature.none',
    ),
    kept(
      'in the place of a signature',
      (descriptor) => {
        const bytes = draftStatement(kit, goodStatement(descriptor));
        const question = askBuilt(kit, descriptor, [bytes], buildingPolicy(kit));
        const signatures = [{ mediaType: 'application/jose+json', bytes }];
        return { ...question, evidence: { ...question.evidence, signatures } };
      },
      'signature.malformed',
    ),
    ...['', 'application/json', 'application/vnd.in-toto+json', `${DSSE}; x=1`, 'application/jose+json'].map(
      (mediaType) =>
        kept(
          `of type ${JSON.stringify(mediaType)}`,
          (descriptor) =>
            askBuilt(
              kit,
              descriptor,
              [draftStatement(kit, goodStatement(descriptor))],
              buildingPolicy(kit),
              mediaType,
            ),
          'provenance.malformed',
        ),
    ),
    ...[
      '',
      'application/json',
      'application/vnd.in-toto+json ',
      'application/vnd.in-toto.provenance+json',
      'text/plain',
    ].map((type) =>
      stated(kit, `a payload of type ${JSON.stringify(type)}`, asIs, { type }, 'provenance.malformed'),
    ),
    form('another type outside than what is signed', (envelope) => ({
      ...envelope,
      payloadType: 'application/json',
    })),
    form('no signatures', (envelope) => ({ ...envelope, signatures: [] })),
    form('no list of signatures', (envelope) => ({ ...envelope, signatures: undefined })),
    form('a signature by itself', (envelope) => ({ ...envelope, signatures: envelope.signatures[0] })),
    form('eleven signatures', (envelope) => ({
      ...envelope,
      signatures: Array.from({ length: 11 }, () => envelope.signatures[0]),
    })),
    form('no payload', (envelope) => ({ ...envelope, payload: undefined })),
    form('no type', (envelope) => ({ ...envelope, payloadType: undefined })),
    form('something besides', (envelope) => ({ ...envelope, x: 1 })),
    form('something besides in a signature', (envelope) => ({
      ...envelope,
      signatures: envelope.signatures.map((each) => ({ ...each, cert: 'x' })),
    })),
    form('the payload as it is', (envelope) => ({
      ...envelope,
      payload: Buffer.from(String(envelope['payload']), 'base64').toString(),
    })),
    form('the payload in base64url', (envelope) => ({
      ...envelope,
      payload: `${Buffer.from(String(envelope['payload']), 'base64').toString('base64url')}_`,
    })),
    form('the payload in lines', (envelope) => ({
      ...envelope,
      payload: String(envelope['payload']).replace(/(.{64})/, '$1\n'),
    })),
    form('the payload twice', (envelope) => JSON.stringify(envelope).replace('{', '{"payload":"e30=",')),
    form('the type twice', (envelope) => JSON.stringify(envelope).replace('{', '{"payloadType":"x",')),
    ...['', 'null', '[]', '{', '{}', '5'].map((text) => form(`an envelope of ${text}`, () => text || ' ')),
    form('too long', (envelope) => `${JSON.stringify(envelope)}${' '.repeat(1024 * 1024)}`),
    ...places(100, 10).map((percent) =>
      form(`cut at ${percent}%`, (envelope) => {
        const text = JSON.stringify(envelope);
        return text.slice(0, Math.floor((text.length * percent) / 100)) || ' ';
      }),
    ),
    policy('no builders', { builders: [] }, 'provenance.signature'),
    policy('no sources', { source_repositories: [] }, 'provenance.source'),
    policy(
      'a source without its reference',
      { source_repositories: ['git+https://code.example/team/demo'] },
      'provenance.source',
    ),
    policy(
      "another builder's key",
      { builders: [builderOf(kit, { public_keys: [publicPem(keyOf('P-256', 'stranger builder'))] })] },
      'provenance.signature',
    ),
    policy(
      'the key of one builder, the name of another',
      {
        builders: [
          builderOf(kit, { builder_id: 'https://builders.example/nightly' }),
          builderOf(kit, { public_keys: [publicPem(keyOf('P-256', 'stranger builder'))] }),
        ],
      },
      'provenance.builder',
    ),
    policy(
      'a builder that may be told nothing',
      { builders: [builderOf(kit, { external_parameters: [] })] },
      'provenance.parameters',
    ),
    policy(
      'a source in another parameter',
      { builders: [builderOf(kit, { source_parameter: 'repository' })] },
      'provenance.source',
    ),
    policy('no way to build', { builders: [builderOf(kit, { build_types: [] })] }, 'provenance.build_type'),
  ];
}
