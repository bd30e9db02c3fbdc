import type { AttributeValue, _Record } from '@aws-sdk/client-dynamodb-streams';
import { REGION } from '../wire/aws.ts';

type Wire = { [name: string]: unknown };

/** A record as Lambda hands it to a function: DynamoDB's JSON, where the SDK has parsed dates and bytes. */
export interface StreamRecord {
  eventID: string;
  eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  eventVersion: string;
  eventSource: 'aws:dynamodb';
  awsRegion: string;
  dynamodb: {
    ApproximateCreationDateTime: number;
    Keys: Wire;
    NewImage?: Wire;
    OldImage?: Wire;
    SequenceNumber: string;
    SizeBytes: number;
    StreamViewType: string;
  };
  userIdentity?: { principalId: string; type: string };
  eventSourceARN: string;
}

/** A record and when it came in, as well as that can be known. */
export interface Arrived {
  record: StreamRecord;
  arrivedAtMs: number;
}

export const sequenceNumber = ({ record }: Arrived): string => record.dynamodb.SequenceNumber;

/**
 * DynamoDB Local rounds the time of a change down to the minute. Taken at its word a new record could be a minute
 * old at once; so it is as young as that minute allows, and no younger than now.
 */
export function toArrived(record: _Record, streamArn: string): Arrived {
  const changedAtMs = record.dynamodb?.ApproximateCreationDateTime?.getTime() ?? 0;
  return {
    record: toStreamRecord(record, streamArn),
    arrivedAtMs: Math.min(Date.now(), changedAtMs + 60_000),
  };
}

function toStreamRecord(record: _Record, streamArn: string): StreamRecord {
  const change = record.dynamodb ?? {};
  const { eventName, userIdentity } = eventOf(record);
  return {
    eventID: record.eventID ?? '',
    eventName,
    eventVersion: record.eventVersion ?? '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: REGION,
    dynamodb: {
      ApproximateCreationDateTime: Math.floor((change.ApproximateCreationDateTime?.getTime() ?? 0) / 1000),
      Keys: toWireItem(change.Keys ?? {}),
      ...(change.NewImage && { NewImage: toWireItem(change.NewImage) }),
      ...(change.OldImage && { OldImage: toWireItem(change.OldImage) }),
      SequenceNumber: change.SequenceNumber ?? '',
      SizeBytes: change.SizeBytes ?? 0,
      StreamViewType: change.StreamViewType ?? 'NEW_AND_OLD_IMAGES',
    },
    ...(userIdentity && { userIdentity }),
    eventSourceARN: streamArn,
  };
}

/** DynamoDB Local has a name of its own for a deletion by time to live, which AWS calls REMOVE by the service. */
function eventOf(record: _Record): Pick<StreamRecord, 'eventName' | 'userIdentity'> {
  const { eventName, userIdentity: by } = record;
  const userIdentity = by && { principalId: by.PrincipalId ?? '', type: by.Type ?? '' };
  if (eventName === 'INSERT' || eventName === 'MODIFY' || eventName === 'REMOVE')
    return { eventName, userIdentity };
  return {
    eventName: 'REMOVE',
    userIdentity: userIdentity ?? { principalId: 'dynamodb.amazonaws.com', type: 'Service' },
  };
}

function toWireItem(item: Record<string, AttributeValue>): Wire {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, toWireValue(value)]));
}

function toWireValue(value: AttributeValue): Wire {
  if (value.B !== undefined) return { B: base64(value.B) };
  if (value.BS !== undefined) return { BS: value.BS.map(base64) };
  if (value.L !== undefined) return { L: value.L.map(toWireValue) };
  if (value.M !== undefined) return { M: toWireItem(value.M) };
  return { ...value };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
