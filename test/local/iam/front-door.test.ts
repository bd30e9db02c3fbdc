import { connect } from 'node:net';
import { CreateTableCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { HeadBucketCommand, ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { AwsError, type AwsRequest, type AwsResponse } from '../../../lib/local/wire/aws.ts';
import { claimPort, type FrontDoorService } from '../../../lib/local/iam/front-door.ts';
import { decodeAwsChunked } from '../../../lib/local/wire/wire.ts';
import { failure, openAwsServices, type AwsServices } from '../services/aws-services-world.ts';
import { signRequest } from '../services/sign-request.ts';

/** Stands for Lambda and answers as the test says. */
let handle: (request: AwsRequest) => Promise<AwsResponse>;
const scripted: FrontDoorService = {
  scope: 'lambda',
  protocol: 'rest-json',
  access: () => [],
  handle: (request) => handle(request),
};

let world: AwsServices;

beforeAll(async () => {
  world = await openAwsServices({ services: [scripted] });
});

beforeEach(() => {
  handle = () =>
    Promise.resolve({ status: 200, headers: { 'content-type': 'application/json' }, body: '{}' });
});

afterAll(async () => {
  await world?.close();
});

describe('requests without an AWS signature', () => {
  test('go to the gateway untouched', async () => {
    const answer = await fetch(`${world.url}/api/v1/health?a=1`, {
      headers: { authorization: 'Bearer token' },
    });
    expect(await answer.text()).toBe('gateway GET /api/v1/health?a=1');
  });

  test('may become sockets, which end with the door', async () => {
    const own = await openAwsServices();
    const socket = connect(Number(new URL(own.url).port), '127.0.0.1');
    socket.write('GET /ws HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
    const [answer] = await new Promise<Buffer[]>((resolve) => socket.once('data', (data) => resolve([data])));
    expect(String(answer)).toContain('101 Switching Protocols');
    const ended = new Promise((resolve) => socket.once('close', resolve));
    await own.close();
    await ended;
  });
});

describe('each protocol names the same fault its own way', () => {
  const wrongSecret = () => world.as({ ...world.principals.operator(), secretAccessKey: 'wrong' });
  const unknownKey = () => world.as({ accessKeyId: 'AKIAUNKNOWN', secretAccessKey: 'x' });
  const expired = () =>
    world.as(world.principals.session('arn:aws:iam::000000000000:role/r', 's', { expiresAt: new Date(0) }));
  const stranger = () => world.as(world.principals.session('arn:aws:iam::000000000000:role/r', 's'));
  const slow = () => ({ ...world.asOperator(), systemClockOffset: -16 * 60_000 });

  type Config = ReturnType<typeof wrongSecret>;
  const dynamodb = (config: Config) => new DynamoDBClient(config).send(new ListTablesCommand({}));
  const sqs = (config: Config) => new SQSClient(config).send(new ListQueuesCommand({}));
  const s3 = (config: Config) => new S3Client(config).send(new ListBucketsCommand({}));
  const sts = (config: Config) => new STSClient(config).send(new GetCallerIdentityCommand({}));
  const lambda = (config: Config) => new LambdaClient(config).send(new ListFunctionsCommand({}));

  test.each<[string, () => Config, (config: Config) => Promise<unknown>, string, number]>([
    ['DynamoDB, wrong secret', wrongSecret, dynamodb, 'InvalidSignatureException', 400],
    ['DynamoDB, unknown key', unknownKey, dynamodb, 'UnrecognizedClientException', 400],
    ['DynamoDB, expired session', expired, dynamodb, 'ExpiredTokenException', 400],
    ['DynamoDB, clock behind', slow, dynamodb, 'InvalidSignatureException', 400],
    ['DynamoDB, no permission', stranger, dynamodb, 'AccessDeniedException', 400],
    ['SQS, wrong secret', wrongSecret, sqs, 'InvalidSignatureException', 400],
    ['SQS, no permission', stranger, sqs, 'AccessDeniedException', 400],
    ['S3, wrong secret', wrongSecret, s3, 'SignatureDoesNotMatch', 403],
    ['S3, unknown key', unknownKey, s3, 'InvalidAccessKeyId', 403],
    ['S3, expired session', expired, s3, 'ExpiredToken', 400],
    ['S3, clock behind', slow, s3, 'RequestTimeTooSkewed', 403],
    ['S3, no permission', stranger, s3, 'AccessDenied', 403],
    ['STS, wrong secret', wrongSecret, sts, 'SignatureDoesNotMatch', 403],
    ['STS, unknown key', unknownKey, sts, 'InvalidClientTokenId', 403],
    ['STS, expired session', expired, sts, 'ExpiredToken', 403],
    ['Lambda, wrong secret', wrongSecret, lambda, 'InvalidSignatureException', 403],
    ['Lambda, unknown key', unknownKey, lambda, 'UnrecognizedClientException', 403],
  ])('%s', async (_what, config, send, code, status) => {
    const error = await failure(send(config()));
    expect([error.name, error.$metadata?.httpStatusCode]).toEqual([code, status]);
    expect(error.$metadata?.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('a HEAD that is refused has no body', async () => {
    const error = await failure(new S3Client(stranger()).send(new HeadBucketCommand({ Bucket: 'any' })));
    expect(error.$metadata?.httpStatusCode).toBe(403);
  });
});

test('a service that is not hosted is named, beside those that are', async () => {
  const client = new DynamoDBClient({ ...world.asOperator(), signingName: 'timestream' } as never);
  const error = await failure(client.send(new ListTablesCommand({})));
  expect(error.name).toBe('UnknownServiceException');
  expect(error.message).toBe(
    "This machine hosts no service with the credential scope 'timestream'; it hosts dynamodb, sqs, s3, sts, kms, lambda, ecr.",
  );
});

describe('a service behind the door', () => {
  const send = () => new LambdaClient(world.asOperator()).send(new ListFunctionsCommand({}));

  test('that throws an error of AWS has it answered', async () => {
    handle = () => Promise.reject(new AwsError('TooManyRequestsException', 'Rate Exceeded.', 429));
    const error = await failure(send());
    expect([error.name, error.message, error.$metadata?.httpStatusCode]).toEqual([
      'TooManyRequestsException',
      'Rate Exceeded.',
      429,
    ]);
  });

  test('that fails is a 500 without its secrets, and is written down', async () => {
    const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      handle = () => Promise.reject(new TypeError('password is hunter2'));
      const error = await failure(send());
      expect([error.name, error.$metadata?.httpStatusCode]).toEqual(['InternalFailure', 500]);
      expect(error.message).not.toContain('hunter2');
      expect(output.mock.calls.join()).toMatch(/front door +lambda failed at GET .*hunter2/);
    } finally {
      output.mockRestore();
    }
  });

  test('sees path, query, body and who asks', async () => {
    let seen: AwsRequest | undefined;
    handle = (request) => {
      seen = request;
      return Promise.resolve({ status: 200, body: '{"Functions":[]}' });
    };
    await new LambdaClient(world.asRole('looker')).send(new ListFunctionsCommand({ MaxItems: 5 }));
    expect(seen?.path).toBe('/2015-03-31/functions');
    expect(seen?.query.get('MaxItems')).toBe('5');
    expect(seen?.principal).toMatchObject({ kind: 'role', sessionName: 'test' });
  });
});

test('a body that is too large is refused before it is all there', async () => {
  const client = new DynamoDBClient(world.asOperator());
  const error = await failure(
    client.send(
      new CreateTableCommand({
        TableName: 'x'.repeat(11 * 1024 * 1024),
        KeySchema: [],
        AttributeDefinitions: [],
      }),
    ),
  );
  expect([error.name, error.$metadata?.httpStatusCode]).toEqual(['RequestEntityTooLarge', 413]);
});

test('a chunk that was cut off is noticed', () => {
  const whole = Buffer.from('5;x=1\r\nhello\r\n0\r\nx-amz-checksum-crc32: abc=\r\n\r\n');
  expect(decodeAwsChunked(whole)).toEqual({
    body: Buffer.from('hello'),
    trailers: { 'x-amz-checksum-crc32': 'abc=' },
  });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 14 }), (length) => {
      expect(() => decodeAwsChunked(whole.subarray(0, length))).toThrow(/IncompleteBody|parts/);
    }),
  );
});

describe('whatever is sent', () => {
  const raw = (head: string, body: Uint8Array) =>
    new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
      const chunks: Buffer[] = [];
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
      socket.end(Buffer.concat([Buffer.from(head, 'latin1'), body]));
    });

  test('the door answers, and goes on answering', async () => {
    const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const piece = fc.oneof(
      fc.constantFrom(
        'AKIA',
        '',
        '20261116',
        'us-east-1',
        's3',
        'sqs',
        'dynamodb',
        'aws4_request',
        'host',
        'constructor',
        '__proto__',
        '%',
        '%zz',
        '..',
      ),
      fc.string({ maxLength: 8 }).map((text) => text.replace(/[^\x21-\x7e]/g, '')),
    );
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom('GET', 'PUT', 'POST', 'HEAD', 'DELETE'),
          fc.array(piece, { maxLength: 4 }),
          fc.array(piece, { minLength: 7, maxLength: 7 }),
          fc.boolean(),
          fc.uint8Array({ maxLength: 64 }),
          async (method, path, [key, date, region, service, signed, signature, target], presigned, body) => {
            const credential = `${key}/${date}/${region}/${service}/aws4_request`;
            const query = presigned
              ? `?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${credential}&X-Amz-Date=${date}&X-Amz-SignedHeaders=${signed}&X-Amz-Signature=${signature}&X-Amz-Expires=${target}`
              : '';
            const authorization = presigned
              ? ''
              : `authorization: AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${signed}, Signature=${signature}\r\n`;
            const head = `${method} /${path.join('/')}${query} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${authorization}x-amz-target: ${target}\r\nx-amz-date: ${date}\r\ncontent-length: ${body.length}\r\n\r\n`;
            const answer = await raw(head, body);
            expect(answer).toMatch(/^HTTP\/1\.1 (4\d\d|200)/);
          },
        ),
        { numRuns: 150 },
      );
      // Nothing of it may have been a surprise.
      expect(output.mock.calls.join()).not.toContain('front door');
    } finally {
      output.mockRestore();
    }
    await new STSClient(world.asOperator()).send(new GetCallerIdentityCommand({}));
  });

  test('a valid signature over a malformed body is answered in the protocol of the service', async () => {
    const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const targets = {
      dynamodb: 'DynamoDB_20120810.PutItem',
      sqs: 'AmazonSQS.SendMessage',
      kms: 'TrentService.Sign',
    };
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom('dynamodb', 'sqs', 'kms'),
          fc.oneof(fc.json(), fc.string()),
          async (service: keyof typeof targets, body) => {
            const headers = {
              'x-amz-target': targets[service],
              'content-type': 'application/x-amz-json-1.0',
            };
            const answer = await signRequest(world, {
              service,
              method: 'POST',
              path: '/',
              headers,
              body: Buffer.from(body),
            });
            expect(answer.status).toBeGreaterThanOrEqual(400);
            expect(answer.status).not.toBe(500);
            expect(((await answer.json()) as { __type?: string }).__type).toEqual(expect.any(String));
          },
        ),
        { numRuns: 100 },
      );
      expect(output.mock.calls.join()).not.toContain('front door');
    } finally {
      output.mockRestore();
    }
  });
});

describe('a port', () => {
  const upgrade = 'GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
  const statusOf = (url: string, text: string) =>
    new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      let answer = '';
      socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
      socket.on('close', () => resolve(answer.split('\r\n')[0] ?? ''));
      socket.write(text);
    });

  test('is claimed before there is anything to serve, and asks for patience until then', async () => {
    const door = await claimPort(0);
    const answer = await fetch(door.url);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await answer.json()).toEqual({ message: 'The platform is starting.' });
    expect(await statusOf(door.url, upgrade)).toBe('HTTP/1.1 503 Service Unavailable');
    await door.close();
  });

  test('that somebody else has is named, with what to do', async () => {
    const port = Number(new URL(world.url).port);
    await expect(claimPort(port)).rejects.toThrow(
      `Port ${port} is taken. Name another with --port, or leave it out to get a free one.`,
    );
  });

  test('stays open when what stands behind it fails', async () => {
    const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const door = await claimPort(0);
    door.open({
      principals: world.principals,
      iam: world.iam,
      services: [],
      fallback: (request) => {
        if (request.url === '/at-once') throw new Error('failed at once');
        return Promise.reject(new Error('failed later'));
      },
      upgrade: () => Promise.reject(new Error('failed to upgrade')),
    });
    try {
      for (const path of ['/at-once', '/later']) {
        const answer = await fetch(door.url + path);
        expect([answer.status, await answer.json()]).toEqual([500, { message: 'Internal Server Error' }]);
      }
      expect(await statusOf(door.url, upgrade)).toBe('');
      for (const failed of ['failed at once', 'failed later', 'failed to upgrade'])
        expect(output.mock.calls.join()).toContain(failed);
    } finally {
      output.mockRestore();
      await door.close();
    }
  });
});
