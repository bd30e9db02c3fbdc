/** Where a command reads and writes: data on the one, messages on the other. */
export interface Streams {
  /** Standard output: what the command was asked for, and nothing else. */
  print(line: string): void;
  /** Standard error: what people read meanwhile. */
  tell(line: string): void;
  /** All of standard input. */
  read(): Promise<string>;
}

/** How every command answers. */
export interface Answering {
  json?: boolean;
  quiet?: boolean;
}

/** The same answer for people, a line each, or as JSON for programs. */
export function answer(streams: Streams, { json = false }: Answering, value: object, lines: string[]): void {
  if (json) streams.print(JSON.stringify(value));
  else for (const line of lines) streams.print(line);
}

export function tell(streams: Streams, { quiet = false }: Answering, line: string): void {
  if (!quiet) streams.tell(line);
}
