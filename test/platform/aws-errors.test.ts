import { describe, expect, test } from 'vitest';
import { cancellations, isBusy, isDenied, isTransient } from '../../functions/platform/aws-errors.ts';

const awsError = (name: string, fields: Record<string, unknown> = {}) =>
  Object.assign(new Error(name), { name, ...fields });

describe('an error of an AWS client', () => {
  test.each([
    ...[
      'ThrottlingException',
      'ProvisionedThroughputExceededException',
      'TransactionConflictException',
      'TransactionInProgressException',
      'Unprocessed',
    ].map((name) => awsError(name)),
    ...['ThrottlingError', 'ProvisionedThroughputExceeded', 'TransactionConflict'].map((Code) =>
      awsError('TransactionCanceledException', { CancellationReasons: [{ Code: 'None' }, { Code }] }),
    ),
  ])('means that nothing was done for want of room: $name', (error) => {
    expect(isBusy(error)).toBe(true);
    expect(isTransient(error)).toBe(true);
  });

  test.each([
    awsError('TimeoutError'),
    awsError('InternalServerError', { $metadata: { httpStatusCode: 500 } }),
    awsError('Error', { code: 'ECONNRESET' }),
    awsError('TransactionCanceledException', { CancellationReasons: [{ Code: 'ConditionalCheckFailed' }] }),
    'text',
  ])('does not say that nothing was done: %s', (error) => {
    expect(isBusy(error)).toBe(false);
  });

  test.each([
    awsError('ThrottlingException'),
    awsError('ProvisionedThroughputExceededException'),
    awsError('TooManyRequestsException', { $metadata: { httpStatusCode: 429 } }),
    awsError('InternalServerError', { $metadata: { httpStatusCode: 500 } }),
    awsError('ServiceUnavailable', { $metadata: { httpStatusCode: 503 } }),
    awsError('TimeoutError'),
    awsError('TransactionInProgressException', { $metadata: { httpStatusCode: 400 } }),
    awsError('TransactionConflictException', { $metadata: { httpStatusCode: 400 } }),
    awsError('Error', { code: 'ECONNREFUSED' }),
    awsError('Error', { code: 'ECONNRESET' }),
    awsError('TransactionCanceledException', {
      CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
    }),
  ])('may pass by itself: $name $code', (error) => {
    expect(isTransient(error)).toBe(true);
    expect(isDenied(error)).toBe(false);
  });

  test.each([
    awsError('AccessDeniedException', { $metadata: { httpStatusCode: 400 } }),
    awsError('AccessDenied', { $metadata: { httpStatusCode: 403 } }),
    awsError('ForbiddenException', { $metadata: { httpStatusCode: 403 } }),
  ])('means a missing grant: $name', (error) => {
    expect(isDenied(error)).toBe(true);
    expect(isTransient(error)).toBe(false);
  });

  test.each([
    awsError('ValidationException', { $metadata: { httpStatusCode: 400 } }),
    awsError('TypeError'),
    'text',
    undefined,
  ])('is neither: %s', (error) => {
    expect(isTransient(error)).toBe(false);
    expect(isDenied(error)).toBe(false);
  });

  test('of a cancelled transaction tells by position which write failed', () => {
    const error = awsError('TransactionCanceledException', {
      CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed' }],
    });
    expect(cancellations(error).indexOf('ConditionalCheckFailed')).toBe(1);
    expect(cancellations(awsError('ValidationException'))).toEqual([]);
  });
});
