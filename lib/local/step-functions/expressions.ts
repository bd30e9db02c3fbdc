import type { Json, State } from './asl.ts';

/** Fields whose `….$` members hold expressions. */
const TEMPLATE_FIELDS = new Set(['Parameters', 'ResultSelector', 'ItemSelector']);

// Text in quotes is data; a dollar after a word character or a dot belongs to a property name.
const QUOTED_OR_ROOT = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|(?<![\w.$])\$\$?/g;
const QUOTED = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/g;

/** Replaces `$` and `$$` where they begin a path, also in the arguments of an intrinsic function. */
export function replaceRoots(expression: string, roots: { input: string; context: string }): string {
  return expression.replace(QUOTED_OR_ROOT, (match) => {
    if (match === '$$') return roots.context;
    return match === '$' ? roots.input : match;
  });
}

export function withoutQuotedText(expression: string): string {
  return expression.replace(QUOTED, "''");
}

/** A copy of a payload template with every expression in it passed through `change`. */
export function mapTemplate(template: Json, change: (expression: string) => string): Json {
  if (Array.isArray(template)) return template.map((item) => mapTemplate(item, change));
  if (template === null || typeof template !== 'object') return template;
  return Object.fromEntries(
    Object.entries(template).map(([key, value]) =>
      key.endsWith('.$') && typeof value === 'string'
        ? [key, change(value)]
        : [key, mapTemplate(value, change)],
    ),
  );
}

/** A copy of a Choice rule with `Variable` and every `…Path` operand passed through `change`. */
export function mapRule(rule: Json, change: (expression: string) => string): Json {
  if (Array.isArray(rule)) return rule.map((item) => mapRule(item, change));
  if (rule === null || typeof rule !== 'object') return rule;
  return Object.fromEntries(
    Object.entries(rule).map(([key, value]) =>
      typeof value === 'string' && (key === 'Variable' || key.endsWith('Path'))
        ? [key, change(value)]
        : [key, mapRule(value, change)],
    ),
  );
}

/** Every path and intrinsic call one state contains. */
export function expressionsOf(state: State): string[] {
  const found: string[] = [];
  const note = (expression: string): string => {
    found.push(expression);
    return expression;
  };
  for (const [field, value] of Object.entries(state)) {
    if (TEMPLATE_FIELDS.has(field)) mapTemplate(value as Json, note);
    else if (field === 'Choices' || field === 'Catch') mapRule(value as Json, note);
    else if (field.endsWith('Path') && typeof value === 'string') note(value);
  }
  return found;
}
