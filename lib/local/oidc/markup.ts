import { escapeXml } from '../wire/wire.ts';

/** Text that is markup already. Everything else put into a page is escaped. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export const NOTHING = new Markup('');

export function markup(parts: TemplateStringsArray, ...values: (string | Markup | Markup[])[]): Markup {
  return new Markup(parts.reduce((text, part, index) => text + textOf(values[index - 1] ?? '') + part));
}

function textOf(value: string | Markup | Markup[]): string {
  if (typeof value === 'string') return escapeXml(value);
  return Array.isArray(value) ? value.map(({ text }) => text).join('') : value.text;
}
