import { AwsError, type AwsRequest, type AwsResponse } from '../aws.ts';
import type { Iam } from '../iam.ts';
import { escapeXml, xmlAnswer } from '../wire.ts';
import { objectArn } from './s3-operations.ts';

const KEYS_MAX = 1000;

/** DeleteObjects as one DELETE after the other, each with its own permission and its own line in the answer. */
export async function deleteObjects(
  request: AwsRequest,
  bucket: string,
  iam: Iam,
  deleteObject: (key: string) => Promise<AwsResponse>,
): Promise<AwsResponse> {
  const xml = request.body.toString('utf8');
  const keys = [...xml.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => unescapeXml(key));
  if (keys.length === 0 || keys.length > KEYS_MAX) {
    throw new AwsError('MalformedXML', `From 1 to ${KEYS_MAX} keys can be deleted at once.`);
  }
  const isQuiet = /<Quiet>true<\/Quiet>/.test(xml);
  const lines: string[] = [];
  for (const key of keys) {
    const denial = whyDenied(() =>
      iam.authorize(request.principal, { action: 's3:DeleteObject', resource: objectArn({ bucket, key }) }),
    );
    if (denial !== undefined) {
      lines.push(
        `<Error><Key>${escapeXml(key)}</Key><Code>AccessDenied</Code><Message>${escapeXml(denial)}</Message></Error>`,
      );
      continue;
    }
    const answer = await deleteObject(key);
    if (answer.status >= 300) return answer;
    if (!isQuiet) lines.push(`<Deleted><Key>${escapeXml(key)}</Key></Deleted>`);
  }
  return xmlAnswer(
    `<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${lines.join('')}</DeleteResult>`,
  );
}

function whyDenied(authorize: () => void): string | undefined {
  try {
    authorize();
    return undefined;
  } catch (error) {
    if (error instanceof AwsError) return error.message;
    throw error;
  }
}

function unescapeXml(text: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (entity, name: string) => {
    if (!name.startsWith('#')) return named[name] ?? entity;
    const point = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return point <= 0x10ffff ? String.fromCodePoint(point) : entity;
  });
}
