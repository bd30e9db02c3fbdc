import { s3 } from '../../functions/storage/object-client.ts';

/** While something is done, the bucket is sought at another port of this machine; nobody listens at the first. */
export async function withoutBucket<T>(work: () => Promise<T>, port = 1): Promise<T> {
  s3().middlewareStack.add(
    (next) => (args) => {
      Object.assign(args.request as object, { port });
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low', name: 'elsewhere' },
  );
  return work().finally(() => s3().middlewareStack.remove('elsewhere'));
}
