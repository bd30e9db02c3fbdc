// Pages of which parts are made: each such part stands between two marks.

/** The page with its parts made anew; the marks name the command that makes them. */
export function filledBy(command: string, page: string, parts: Record<string, string[]>): string {
  return Object.entries(parts).reduce((filled, [part, made]) => {
    const begin = `<!-- ${part}: made by npm run ${command} -->`;
    const end = `<!-- end of ${part} -->`;
    const [before, rest = ''] = filled.split(begin);
    const [, after] = rest.split(end);
    if (before === undefined || after === undefined)
      throw new Error(`The page has no place for its ${part}.`);
    return [before + begin, ...made, end + after].join('\n\n');
  }, page);
}

export function tableOf(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
