/** Text that is HTML already. Everything else is escaped where it is put in. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | undefined | false | Markup | Markup[];

export function html(strings: TemplateStringsArray, ...parts: Part[]): Markup {
  return new Markup(String.raw({ raw: strings }, ...parts.map(textOf)));
}

function textOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (Array.isArray(part)) return part.map(({ text }) => text).join('');
  return part instanceof Markup ? part.text : escape(String(part));
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
