import * as v from 'valibot';
import { AwsError } from '../wire/aws.ts';

const ENTRIES_MAX = 10;
const REQUEST_BYTES_MAX = 1024 * 1024;
/** What AWS counts for a time, however it is written. */
const TIME_BYTES = 14;

const Entry = v.object({
  Time: v.optional(v.number()),
  Source: v.optional(v.string()),
  DetailType: v.optional(v.string()),
  Detail: v.optional(v.string()),
  Resources: v.optional(v.array(v.string())),
  EventBusName: v.optional(v.pipe(v.string(), v.regex(/^[/.\-_A-Za-z0-9:]{1,1600}$/))),
});

const PutEvents = v.object({ Entries: v.array(Entry), EndpointId: v.optional(v.undefined()) });

export type Entry = v.InferOutput<typeof Entry>;

export interface CheckedEntry {
  'detail-type': string;
  source: string;
  time: string;
  resources: string[];
  detail: unknown;
}

/** Refuses as a whole what AWS refuses as a whole; what is wrong with one entry is that entry's own failure. */
export function readEntries(body: unknown): Entry[] {
  const parsed = v.safeParse(PutEvents, body);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw invalid(`at '${v.getDotPath(issue) ?? 'body'}': ${issue.message}`);
  }
  const { Entries } = parsed.output;
  if (Entries.length === 0) throw invalid(lengthMust('greater than or equal to 1'));
  if (Entries.length > ENTRIES_MAX) throw invalid(lengthMust(`less than or equal to ${ENTRIES_MAX}`));
  if (Entries.reduce((bytes, entry) => bytes + entryBytes(entry), 0) > REQUEST_BYTES_MAX)
    throw new AwsError('ValidationException', 'Total size of the entries in the request is over the limit.');
  return Entries;
}

export function checkEntry(entry: Entry): CheckedEntry | { ErrorCode: string; ErrorMessage: string } {
  const { Source, DetailType, Detail, Resources = [], Time = Date.now() / 1000 } = entry;
  if (!Source) return missing('Source');
  if (!DetailType) return missing('DetailType');
  if (!Detail) return missing('Detail');
  if (Source.startsWith('aws.'))
    return { ErrorCode: 'NotAuthorizedForSourceException', ErrorMessage: 'Not authorized for the source.' };
  const detail = parseObject(Detail);
  if (detail === undefined) return { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' };
  // Events carry whole seconds.
  const time = new Date(Math.floor(Time) * 1000).toISOString().replace('.000Z', 'Z');
  return { 'detail-type': DetailType, source: Source, time, resources: Resources, detail };
}

function entryBytes({ Time, Source = '', DetailType = '', Detail = '', Resources = [] }: Entry): number {
  const texts = [Source, DetailType, Detail, ...Resources];
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), Time === undefined ? 0 : TIME_BYTES);
}

function parseObject(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function missing(field: string): { ErrorCode: string; ErrorMessage: string } {
  return {
    ErrorCode: 'InvalidArgument',
    ErrorMessage: `Parameter ${field} is not valid. Reason: ${field} is a required argument.`,
  };
}

function lengthMust(be: string): string {
  return `Value at 'entries' failed to satisfy constraint: Member must have length ${be}`;
}

function invalid(fault: string): AwsError {
  return new AwsError('ValidationException', `1 validation error detected: ${fault}`);
}
