// The client of the bucket, as bounded in time and memory as everything that asks it: it follows no redirection, tries
// nothing twice, and reads no more than an answer may have.

import { pipeline, type Readable, Transform } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';

/** A page of a listing is shorter, and so is what the store has to say when it fails. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

interface Answer {
  statusCode: number;
  body: Readable;
}

let client: S3Client | undefined;

export function s3(): S3Client {
  client ??= open();
  return client;
}

function open(): S3Client {
  const opened = new S3Client({
    maxAttempts: 1,
    // No connection is kept: between two invocations it would die unseen.
    requestHandler: { httpAgent: { keepAlive: false }, httpsAgent: { keepAlive: false } },
    // A checksum is asked for where it is looked at, and sent where it was agreed on.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  opened.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args);
        const answer = result.response as Answer;
        // A file is read as it comes; everything else the client reads whole before it looks at it.
        const isFile = commandName === 'GetObjectCommand' && answer.statusCode === 200;
        if (!isFile) answer.body = bounded(answer.body);
        return result;
      },
    { step: 'deserialize', priority: 'low', name: 'bounded' },
  );
  return opened;
}

function bounded(body: Readable): Readable {
  let bytes = 0;
  const bound = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) done(new Error(`The answer is over ${ANSWER_BYTES_MAX} bytes.`));
      else done(null, chunk);
    },
  });
  // Whoever reads it is told of the failure.
  return pipeline(body, bound, () => undefined);
}
