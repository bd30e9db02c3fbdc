import type { Mutant } from './mutant.ts';

export const sdk: Mutant[] = [
  {
    what: 'the token of the registry is sent along to the other host an upload goes to',
    file: 'sdk/signing/registry-access.ts',
    from: 'new URL(url).origin === new URL(this.base).origin',
    to: 'new URL(url).pathname !== this.base',
    noticedBy: ['test/sdk/attach.test.ts'],
  },
  {
    what: 'a push follows a redirect to wherever it leads',
    file: 'sdk/signing/registry-access.ts',
    from: "method === 'GET' || method === 'HEAD' ? 'follow' : 'error'",
    to: "'follow'",
    noticedBy: ['test/sdk/attach.test.ts'],
  },
  {
    what: 'a host whose name begins like the loopback address is spoken to unencrypted',
    file: 'sdk/signing/registry-access.ts',
    from: '(?::\\d+)?$/',
    to: '(?::\\d+)?/',
    noticedBy: ['test/sdk/attach.test.ts'],
  },
  {
    what: 'a manifest is believed whatever its digest',
    file: 'sdk/signing/registry-access.ts',
    from: 'stated !== null && stated !== digestOf(bytes)',
    to: "stated === ''",
    noticedBy: ['test/sdk/attach.test.ts'],
  },
  {
    what: 'the file is uploaded before what proves it',
    file: 'sdk/signing/files.ts',
    from: `  await upload(send, intent.signature_upload_path, new Blob([new Uint8Array(signature)]));
`,
    to: `  await upload(send, intent.upload_path, await openAsBlob(path), intent.upload_headers);
  await upload(send, intent.signature_upload_path, new Blob([new Uint8Array(signature)]));
`,
    noticedBy: ['test/sdk/files.test.ts'],
  },
  {
    what: 'a chain of another key is signed with',
    file: 'sdk/signing/signer.ts',
    from: 'certificates[0]?.publicKey.equals(publicKey) !== true',
    to: 'certificates[0] === undefined',
    noticedBy: ['test/sdk/kms-signer.test.ts'],
  },
  {
    what: 'a verifier may ignore when a signature ends',
    file: 'sdk/signing/notation.ts',
    from: "...(expiresAt ? ['io.cncf.notary.expiry'] : [])",
    to: '',
    noticedBy: ['test/sdk/envelopes.test.ts'],
  },
  {
    what: 'a signature is listed over those of others',
    file: 'sdk/signing/attach.ts',
    from: 'indexOf([...others, ...added])',
    to: 'indexOf(added)',
    noticedBy: ['test/sdk/attach.test.ts'],
  },
  {
    what: 'a signature that somebody wrote over is told as listed',
    file: 'sdk/signing/attach.ts',
    from: 'if (now?.digest === digestOf(bytes)) return;',
    to: 'if (now !== undefined) return;',
    noticedBy: ['test/sdk/attach.test.ts'],
  },
  {
    what: 'an answer that belongs to another sign-in is taken',
    file: 'sdk/sign-in/code-flow.ts',
    from: "single(params, 'state') !== state",
    to: "single(params, 'state') === undefined",
    noticedBy: ['test/sdk/sign-in.test.ts'],
  },
  {
    what: 'an issuer may go by another issuer’s name',
    file: 'sdk/sign-in/provider.ts',
    from: 'provider.output.issuer !== issuer',
    to: "provider.output.issuer === ''",
    noticedBy: ['test/sdk/sign-in.test.ts'],
  },
  {
    what: 'everybody on the machine can read the tokens of whoever is signed in',
    file: 'sdk/sign-in/session-file.ts',
    from: "mode: 0o600, flag: 'wx'",
    to: "mode: 0o644, flag: 'wx'",
    noticedBy: ['test/sdk/sign-in.test.ts'],
  },
  {
    what: 'a certificate that has ended signs',
    file: 'sdk/signing/signing-chain.ts',
    from: 'at < validFromDate || at > validToDate',
    to: 'at < validFromDate',
    noticedBy: ['test/sdk/signing-chain.test.ts'],
  },
];
