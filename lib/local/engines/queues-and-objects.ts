import { mkdirSync } from 'node:fs';
import { Agent, type Server } from 'node:http';
import { duplexPair, type Duplex } from 'node:stream';
import type { buildApp } from 'fauxqs';
import type { EngineAddress } from '../wire/forward.ts';

const OBJECT_BYTES_MAX = 64 * 1024 * 1024;

export interface QueuesAndObjects extends EngineAddress {
  /** Opens a port for whoever asks without a signature, such as a test; the platform never does. */
  listen(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * fauxqs, the SQS and S3 server from npm, inside this process. Put together by hand because its own start
 * function listens on every interface. With a data folder all of it lives in one SQLite file there; without
 * one it lives in memory. It checks neither signature nor permission: the front door has done both, and nobody else can
 * reach it, as it listens nowhere. Requests come to it inside this process.
 */
export async function startQueuesAndObjects(options: { dataDir?: string } = {}): Promise<QueuesAndObjects> {
  const { buildApp, PersistenceManager, SqsStore, SnsStore, S3Store } = await loadParts();
  const stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() };
  const persistence =
    options.dataDir === undefined ? undefined : openPersistence(PersistenceManager, options.dataDir);
  if (persistence) {
    // Loaded first and attached after: the other way round, loading would write everything anew.
    persistence.load(stores.sqsStore, stores.snsStore, stores.s3Store);
    for (const store of Object.values(stores)) store.persistence = persistence;
    for (const queue of stores.sqsStore.allQueues()) queue.persistence = persistence;
  }
  const app = buildApp({ logger: false, stores: stores as unknown as NonNullable<BuildAppStores> });
  acceptAnyObject(app);
  takeBackFromTheGone(app);
  if (persistence) app.addHook('preClose', () => persistence.close());
  await app.ready();
  return {
    url: 'http://localhost',
    agent: new InsideAgent(app.server),
    listen: () => app.listen({ port: 0, host: '127.0.0.1' }),
    stop: () => app.close(),
  };
}

/** Connects to a server in this process, without a socket that others could connect to. */
class InsideAgent extends Agent {
  #server: Server;

  constructor(server: Server) {
    super({ keepAlive: true });
    this.#server = server;
  }

  override createConnection(): Duplex {
    const [ours, its] = duplexPair();
    ours.once('close', () => its.destroy());
    its.once('close', () => ours.destroy());
    this.#server.emit('connection', its);
    return ours;
  }

  // What a socket needs while nobody uses it, a pipe does not.
  override keepSocketAlive(): void {}
  override reuseSocket(): void {}
}

type App = ReturnType<typeof buildApp>;
type BuildAppStores = NonNullable<Parameters<typeof buildApp>[0]>['stores'];

/** What we touch of the parts that fauxqs does not export. */
interface Store {
  persistence?: Persistence;
}
interface Persistence {
  db: { prepare(sql: string): { run(...values: unknown[]): void }; exec(sql: string): void };
  load(sqs: Store, sns: Store, s3: Store): void;
  updateMessageReady(messageId: string): void;
  close(): void;
}
interface Parts {
  buildApp: typeof buildApp;
  PersistenceManager: new (dataDir: string) => Persistence;
  SqsStore: new () => Store & { allQueues(): Iterable<Store> };
  SnsStore: new () => Store;
  S3Store: new () => Store;
}

async function loadParts(): Promise<Parts> {
  const main = import.meta.resolve('fauxqs');
  const modules = ['app.js', 'persistence.js', 'sqs/sqsStore.js', 'sns/snsStore.js', 's3/s3Store.js'];
  const loaded = await Promise.all(
    modules.map((path) => import(new URL(path, main).href) as Promise<object>),
  );
  return Object.assign({}, ...loaded) as Parts;
}

function openPersistence(PersistenceManager: Parts['PersistenceManager'], dataDir: string): Persistence {
  mkdirSync(dataDir, { recursive: true });
  const persistence = new PersistenceManager(dataDir);
  // As durable as our own journal: what was written survives the death of the process.
  persistence.db.exec('PRAGMA synchronous = NORMAL');
  // fauxqs 2.4.1 clears the receive count too, a column that may not be null: a message made visible at once
  // (ChangeMessageVisibility 0) would be answered with a 500 and lost.
  persistence.updateMessageReady = (messageId) =>
    persistence.db
      .prepare(
        'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
      )
      .run(messageId);
  return persistence;
}

/** An object may be larger than fauxqs's limit, and of any content type: also that of a form. */
function acceptAnyObject(app: App): void {
  for (const type of ['*', 'application/x-www-form-urlencoded']) app.removeContentTypeParser(type);
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: OBJECT_BYTES_MAX }, (_request, body, done) =>
    done(null, body),
  );
}

/**
 * fauxqs 2.4.1 gives messages also to somebody who has hung up while they waited for one, such as a host whose agent was
 * killed: the next one would have to wait until they become visible again. They do at once.
 */
function takeBackFromTheGone(app: App): void {
  app.addHook('onSend', async ({ raw, body }, _reply, payload) => {
    if (!raw.socket.destroyed || raw.headers['x-amz-target'] !== 'AmazonSQS.ReceiveMessage') return payload;
    const { QueueUrl } = read(body) as { QueueUrl: string };
    const { Messages = [] } = read(payload) as { Messages?: { ReceiptHandle: string }[] };
    for (const { ReceiptHandle } of Messages)
      await app.inject({
        method: 'POST',
        url: '/',
        headers: {
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': 'AmazonSQS.ChangeMessageVisibility',
        },
        payload: JSON.stringify({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }),
      });
    return payload;
  });
}

const read = (content: unknown): unknown => (typeof content === 'string' ? JSON.parse(content) : content);
