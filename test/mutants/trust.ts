import type { Mutant } from './mutant.ts';

export const trust: Mutant[] = [
  {
    what: 'a signature counts though a certificate of its chain has expired',
    file: 'functions/trust/trust.ts',
    from: '  requireValid(chain, now, signedAt);\n',
    to: '',
    noticedBy: ['test/trust/admission.test.ts'],
  },
  {
    what: 'a signature counts though the certificate of its signer was revoked',
    file: 'functions/trust/trust.ts',
    from: '  requireUnrevoked(chain, revoked);\n',
    to: '',
    noticedBy: ['test/trust/admission.test.ts'],
  },
  {
    what: 'anybody whose certificate leads to the root may sign, whoever the policy names',
    file: 'functions/trust/trust.ts',
    from: '  requireIdentity(chain, policy);\n',
    to: '',
    noticedBy: ['test/trust/admission.test.ts'],
  },
  {
    what: 'a signature counts at the moment its own expiry has come',
    file: 'functions/trust/trust.ts',
    from: 'if (expiresAt && expiresAt <= now)',
    to: 'if (expiresAt && expiresAt < now)',
    noticedBy: ['test/trust/admission.test.ts'],
  },
  {
    what: 'an artifact without the provenance its policy asks for is verified',
    file: 'functions/trust/trust.ts',
    from: 'if (!policy.provenance.required) return',
    to: 'if (signed) return',
    noticedBy: ['test/trust/admission.test.ts'],
  },
  {
    what: 'the policy for all repositories counts instead of the one for this repository',
    file: 'functions/trust/trust.ts',
    from: 'weightOf(other.repository_pattern) - weightOf(one.repository_pattern)',
    to: 'weightOf(one.repository_pattern) - weightOf(other.repository_pattern)',
    noticedBy: ['test/trust/trust.test.ts'],
  },
  {
    what: 'a chain may end at any root, not only at one of the policy',
    file: 'functions/trust/chain.ts',
    from: 'if (!roots.some((root) => root.equals(last.bytes)))',
    to: 'if (roots.length === 0)',
    noticedBy: ['test/trust/admission.test.ts'],
  },
  {
    what: 'an authority issues another one below it though it may not',
    file: 'functions/trust/chain.ts',
    from: '(basicConstraints.pathLength ?? Infinity) < below',
    to: '(basicConstraints.pathLength ?? Infinity) < below - 1',
    noticedBy: ['test/trust/admission.test.ts'],
  },
  {
    what: 'the signature over another artifact counts for this one',
    file: 'functions/trust/envelope.ts',
    from: '    targetArtifact.digest === digest &&\n',
    to: '',
    noticedBy: ['test/trust/admission.test.ts'],
  },
  {
    what: 'a build may be told anything besides what the policy expects',
    file: 'functions/trust/provenance.ts',
    from: 'if (Object.keys(parameters).some((name) => !expected.includes(name)))',
    to: 'if (Object.keys(parameters).every((name) => !expected.includes(name)))',
    noticedBy: ['test/trust/admission.test.ts'],
  },
];
