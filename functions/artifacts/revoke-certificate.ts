import { nameActor } from '../platform/actor.ts';
import { command } from '../platform/http/endpoint.ts';
import {
  CertificateRevoked,
  planRevocation,
  requireRoomToRevoke,
  RevokeCertificate,
  RevokedCertificate,
  RevokedCertificateParams,
  subjectOfCertificate,
} from '../trust/revoked-certificate.ts';
import { findRevokedAndHead, saveRevoked } from './trust-store.ts';

export const revokeCertificate = command(
  {
    summary: 'Revoke a certificate; artifacts whose signature depends on it are verified again',
    action: 'artifacts.certificate.revoke',
    params: RevokedCertificateParams,
    body: RevokeCertificate,
    reply: RevokedCertificate,
    refusals: ['certificate.too_many'],
  },
  async (ctx, { params: { fingerprint }, body: { reason } }) => {
    const { head, revoked: before } = await findRevokedAndHead(fingerprint);
    requireRoomToRevoke(head, before);
    const after = planRevocation(before, fingerprint, reason, nameActor(ctx.actor), ctx.now());
    return {
      subject: subjectOfCertificate(fingerprint),
      before,
      after,
      reason,
      writes: saveRevoked(head, before, after),
      events: [CertificateRevoked(after)],
      reply: { ...after },
    };
  },
);
