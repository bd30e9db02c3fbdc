import { AwsError, type AwsRequest, type AwsResponse } from '../wire/aws.ts';
import type { Iam } from '../iam/iam.ts';
import { escapeXml, xmlAnswer } from '../wire/wire.ts';
import { objectArn } from './s3-operations.ts';
import { unescapeXml } from './s3-xml.ts';

const KEYS_MAX = 1000;

interface Doomed {
  key: string;
  versionId: string | null;
}

/** DeleteObjects as one DELETE after the other, each with its own permission and its own line in the answer. */
export async function deleteObjects(
  request: AwsRequest,
  bucket: string,
  iam: Iam,
  deleteObject: (doomed: Doomed) => Promise<AwsResponse>,
): Promise<AwsResponse> {
  const xml = request.body.toString('utf8');
  const all = [...xml.matchAll(/<Object>(.*?)<\/Object>/gs)].map(([, object = '']) => readDoomed(object));
  if (all.length === 0 || all.length > KEYS_MAX) {
    throw new AwsError('MalformedXML', `From 1 to ${KEYS_MAX} keys can be deleted at once.`);
  }
  const isQuiet = /<Quiet>true<\/Quiet>/.test(xml);
  const lines: string[] = [];
  for (const doomed of all) {
    const { key, versionId } = doomed;
    const action = versionId === null ? 's3:DeleteObject' : 's3:DeleteObjectVersion';
    const named = `<Key>${escapeXml(key)}</Key>${versionId === null ? '' : `<VersionId>${escapeXml(versionId)}</VersionId>`}`;
    const denial = whyDenied(() =>
      iam.authorize(request.principal, { action, resource: objectArn({ bucket, key }) }),
    );
    if (denial !== undefined) {
      lines.push(`<Error>${named}<Code>AccessDenied</Code><Message>${escapeXml(denial)}</Message></Error>`);
      continue;
    }
    const answer = await deleteObject(doomed);
    if (answer.status >= 300) return answer;
    if (!isQuiet) lines.push(`<Deleted>${named}${aboutMark(answer)}</Deleted>`);
  }
  return xmlAnswer(
    `<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${lines.join('')}</DeleteResult>`,
  );
}

function readDoomed(object: string): Doomed {
  const read = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(object)?.[1];
  const versionId = read('VersionId');
  return {
    key: unescapeXml(read('Key') ?? ''),
    versionId: versionId === undefined ? null : unescapeXml(versionId),
  };
}

/** Whether a mark was made, or taken away. */
function aboutMark({ headers = {} }: AwsResponse): string {
  if (headers['x-amz-delete-marker'] !== 'true') return '';
  const id = headers['x-amz-version-id'] ?? '';
  return `<DeleteMarker>true</DeleteMarker><DeleteMarkerVersionId>${id}</DeleteMarkerVersionId>`;
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
