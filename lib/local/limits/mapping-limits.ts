import type { Deployed, Resource } from './deployed.ts';
import type { Limit } from './limit.ts';

const MAPPING = 'AWS::Lambda::EventSourceMapping';
const API = 'https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html';
const SQS = 'https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-parameters.html';
const VISIBILITY = 'https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html';
const STREAMS = 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html';

const READERS_MAX = 2;
const RECORD_AGE_SECONDS_MIN = 60;
const BATCH_WITHOUT_WINDOW_MAX = 10;
// What SQS and Lambda take where the template is silent.
const VISIBILITY_SECONDS = 30;
const TIMEOUT_SECONDS = 3;

const STREAM_SETTINGS = [
  'BisectBatchOnFunctionError',
  'DestinationConfig',
  'MaximumRecordAgeInSeconds',
  'MaximumRetryAttempts',
  'ParallelizationFactor',
  'StartingPosition',
  'StartingPositionTimestamp',
  'TumblingWindowInSeconds',
];

const sourceOf = ({ properties }: Resource): string => String(properties['EventSourceArn']);
const ofQueues = (deployed: Deployed): Resource[] =>
  deployed.ofType(MAPPING).filter((mapping) => sourceOf(mapping).includes(':sqs:'));
const ofStreams = (deployed: Deployed): Resource[] =>
  deployed.ofType(MAPPING).filter((mapping) => /:(dynamodb|kinesis):/.test(sourceOf(mapping)));

const streamReaders: Limit = {
  name: 'readers of a stream',
  source: STREAMS,
  check: (deployed) => {
    const mappings = ofStreams(deployed).filter(
      (each) => sourceOf(each).includes(':dynamodb:') && each.properties['Enabled'] !== false,
    );
    return [...Map.groupBy(mappings, sourceOf)]
      .filter(([, readers]) => readers.length > READERS_MAX)
      .map(
        ([, readers]) =>
          `${readers.map(({ name }) => name).join(', ')} read one table stream: DynamoDB throttles more than two readers. ` +
          'Let one function read for several.',
      );
  },
};

const streamSettings: Limit = {
  name: 'settings of a stream’s reader',
  source: API,
  check: (deployed) =>
    ofStreams(deployed).flatMap((mapping) => {
      const { name, properties } = mapping;
      const position = properties['StartingPosition'];
      const age = Number(properties['MaximumRecordAgeInSeconds'] ?? -1);
      const isTable = sourceOf(mapping).includes(':dynamodb:');
      const faults = [
        position === undefined && 'it reads a stream and must say from where: StartingPosition',
        position === 'AT_TIMESTAMP' && isTable && 'a table stream cannot be read from a point in time',
        age !== -1 && age < RECORD_AGE_SECONDS_MIN && 'MaximumRecordAgeInSeconds must be -1, or 60 or more',
        properties['ScalingConfig'] !== undefined && 'ScalingConfig is for queues',
      ];
      return faults.filter((fault) => fault !== false).map((fault) => `${name}: ${fault}.`);
    }),
};

const queueSettings: Limit = {
  name: 'settings of a queue’s reader',
  source: SQS,
  check: (deployed) =>
    ofQueues(deployed).flatMap((mapping) => {
      const { name, properties } = mapping;
      const misplaced = STREAM_SETTINGS.filter((setting) => properties[setting] !== undefined);
      const batch = Number(properties['BatchSize'] ?? BATCH_WITHOUT_WINDOW_MAX);
      const windowSeconds = Number(properties['MaximumBatchingWindowInSeconds'] ?? 0);
      const isFifo = deployed.named(sourceOf(mapping))?.properties['FifoQueue'] === true;
      const isLarge = batch > BATCH_WITHOUT_WINDOW_MAX;
      const faults = [
        ...misplaced.map((setting) => `${setting} is for streams, and it reads a queue`),
        isFifo && windowSeconds > 0 && 'a FIFO queue has no batching window',
        isFifo && isLarge && 'a batch of a FIFO queue has at most 10 messages',
        !isFifo &&
          isLarge &&
          windowSeconds < 1 &&
          'a batch of more than 10 messages needs a MaximumBatchingWindowInSeconds of at least 1',
      ];
      return faults.filter((fault) => fault !== false).map((fault) => `${name}: ${fault}.`);
    }),
};

const queueVisibility: Limit = {
  name: 'visibility timeout of a queue',
  source: VISIBILITY,
  check: (deployed) =>
    ofQueues(deployed).flatMap((mapping) => {
      const queue = deployed.named(sourceOf(mapping));
      const fn = deployed.named(mapping.properties['FunctionName']);
      if (queue === undefined || fn === undefined) return [];
      const visibility = Number(queue.properties['VisibilityTimeout'] ?? VISIBILITY_SECONDS);
      const timeout = Number(fn.properties['Timeout'] ?? TIMEOUT_SECONDS);
      if (visibility >= timeout) return [];
      return [
        `${queue.name}: its messages are hidden for ${visibility} s, and ${fn.name} may work on them for ${timeout} s. ` +
          'Raise VisibilityTimeout to at least that.',
      ];
    }),
};

export const mappingLimits = [streamReaders, streamSettings, queueSettings, queueVisibility];
