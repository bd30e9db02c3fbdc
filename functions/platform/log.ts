// One JSON object a line, written past the runtime's console, which would put its own prefix before the brace
// and make the line unreadable to log queries.

type Fields = Record<string, unknown>;

export interface Log {
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** A log whose every line carries these fields too. */
  with(fields: Fields): Log;
}

const CHARACTERS_MAX = 2_000;
// Deep enough for the metrics that travel in a line.
const DEPTH_MAX = 8;
const SECRET_NAME = /token|ticket|secret|password|passphrase|authorization|cookie|private_?key|credential/i;
/** Each takes in all it looks at: a part that is looked at again from every place in it would take the square of its length. */
const SECRET_VALUE =
  /eyJ[\w-]{8,}(?:\.[\w-]*)*|Bearer\s+\S+|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

export function createLog(fields: Fields = {}, write = writeLine): Log {
  const line = (level: string) => (message: string, more?: Fields) =>
    write(JSON.stringify(redact({ level, time: new Date().toISOString(), message, ...fields, ...more }, 0)));
  return {
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    with: (more) => createLog({ ...fields, ...more }, write),
  };
}

function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

function redact(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.replace(SECRET_VALUE, '[redacted]').slice(0, CHARACTERS_MAX);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEPTH_MAX) return '[deeper]';
  if (value instanceof Error) return redactError(value, depth);
  if (Array.isArray(value)) return value.map((each) => redact(each, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      SECRET_NAME.test(name) ? '[redacted]' : redact(each, depth + 1),
    ]),
  );
}

function redactError(error: Error, depth: number): unknown {
  return redact(
    {
      name: error.name,
      message: error.message,
      stack: error.stack,
      ...(error.cause ? { cause: error.cause } : {}),
    },
    depth,
  );
}
