/** What a command reads and writes, so that tests need no process. */
export interface Streams {
  print: (line: string) => void;
  tell: (line: string) => void;
}

/** Told to the person at the terminal, and nothing else of it: what went wrong, and what to do. */
export class CliError extends Error {
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
