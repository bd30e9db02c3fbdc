import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { RevokedCertificatePage } from '../trust/revoked-certificate.ts';
import { listRevokedRows } from './trust-store.ts';

export const listRevokedCertificates = query(
  {
    summary: 'List revoked certificates',
    query: v.strictObject(PageQuery),
    reply: RevokedCertificatePage,
  },
  (_, { query: page }) => listRevokedRows(page),
);
