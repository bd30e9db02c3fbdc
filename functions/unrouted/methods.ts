/** The methods that the lines of the tables (`GET /things/{id}`) have for a path. */
export function methodsOf(lines: readonly string[], path: string): string[] {
  const segments = path.split('/');
  return lines
    .map((line) => line.split(' ') as [method: string, pattern: string])
    .filter(([, pattern]) => isAt(pattern.split('/'), segments))
    .map(([method]) => method);
}

function isAt(pattern: string[], segments: string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) => (part.startsWith('{') ? segments[index] !== '' : segments[index] === part))
  );
}
