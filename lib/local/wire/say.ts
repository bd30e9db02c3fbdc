/** Progress for the person who ran the command: one line, who speaks first. */
export function say(part: string, message: string): void {
  process.stdout.write(`${part.padEnd(12)} ${message}\n`);
}
