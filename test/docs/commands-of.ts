/** Where the next word is the name of a command again. */
const SEPARATORS = new Set(['\n', ';', '|', '&', '(', ')', '{', '}', '!']);
/** After these a command follows. */
const KEYWORDS = new Set([
  'if',
  'then',
  'else',
  'elif',
  'fi',
  'do',
  'done',
  'while',
  'until',
  'time',
  'case',
  'esac',
]);
const ASSIGNMENT = /^\w+\+?=/;

/**
 * The programs and functions that a piece of shell runs, and the functions it defines. It knows the shell of documents:
 * words, quotes, `$(…)`, pipes, lists, comments and assignments; no here-documents.
 */
export function commandsOf(script: string): { runs: Set<string>; defines: Set<string> } {
  const found = { runs: new Set<string>(), defines: new Set<string>() };
  let at = 0;

  const readQuoted = (): string => {
    const quote = script[at++];
    let text = '';
    while (at < script.length && script[at] !== quote) {
      if (quote === '"' && script[at] === '\\') at += 1;
      else if (quote === '"' && script.startsWith('$(', at)) readSubstitution();
      text += script[at++] ?? '';
    }
    at += 1;
    return text;
  };

  const readSubstitution = (): void => {
    at += 2;
    readCommands(')');
  };

  /** Up to a blank or a separator; what a substitution in it runs is found on the way. */
  const readWord = (): string => {
    let word = '';
    for (let char = script[at]; char !== undefined && !/\s/.test(char); char = script[at]) {
      if (script.startsWith('$(', at)) {
        readSubstitution();
        at += 1;
        word += '$()';
      } else if (script.startsWith('${', at)) {
        at = script.indexOf('}', at) + 1;
        word += '$';
      } else if (char === '"' || char === "'") word += readQuoted();
      else if (char === '\\') at += 2;
      else if (SEPARATORS.has(char) || char === '<' || char === '>') break;
      else {
        word += char;
        at += 1;
      }
    }
    return word;
  };

  /** Ends at the closing character, and leaves it there. */
  const readCommands = (end?: string): void => {
    let isCommand = true;
    while (at < script.length && script[at] !== end) {
      const char = script[at] ?? '';
      if (char === '#') at = lineEnd(script, at);
      else if (char === '\\' && script[at + 1] === '\n') at += 2;
      else if (char === '<' || char === '>') skipRedirection();
      else if (SEPARATORS.has(char)) {
        isCommand = true;
        at += 1;
      } else if (/\s/.test(char)) at += 1;
      else {
        const word = readWord();
        if (!isCommand || ASSIGNMENT.test(word) || KEYWORDS.has(word)) continue;
        if (word === 'for') {
          isCommand = false;
          continue;
        }
        const isDefined = script.startsWith('()', at);
        if (isDefined) at += 2;
        (isDefined ? found.defines : found.runs).add(word);
        isCommand = isDefined;
      }
    }
  };

  const skipRedirection = (): void => {
    while (/[<>&]/.test(script[at] ?? '')) at += 1;
    while (script[at] === ' ') at += 1;
    readWord();
  };

  readCommands();
  return found;
}

const lineEnd = (text: string, at: number): number => {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
};
