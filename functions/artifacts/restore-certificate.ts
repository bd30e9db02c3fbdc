import { command } from '../platform/http/endpoint.ts';
import {
  CertificateRestored,
  RevokedCertificateParams,
  subjectOfCertificate,
} from '../trust/revoked-certificate.ts';
import { findRevokedAndHead, removeRevoked } from './trust-store.ts';
import { refuse } from './problems.ts';

export const restoreCertificate = command(
  {
    summary: 'Restore a revoked certificate: signatures that depend on it count again',
    action: 'artifacts.certificate.restore',
    params: RevokedCertificateParams,
    status: 204,
    refusals: ['certificate.unknown'],
  },
  async (_, { params: { fingerprint } }) => {
    const { head, revoked } = await findRevokedAndHead(fingerprint);
    if (!revoked) throw refuse('certificate.unknown');
    return {
      subject: subjectOfCertificate(fingerprint),
      before: revoked,
      writes: removeRevoked(head, revoked),
      events: [CertificateRestored(revoked)],
      reply: {},
    };
  },
);
