import { createHash } from 'node:crypto';
import { Markup, markup } from './markup.ts';

const STYLE = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { margin: 0 auto; max-width: 30rem; padding: 2rem 1rem; }
  h1 { font-size: 1.5rem; }
  ul { list-style: none; margin: 0; padding: 0; }
  li { margin-block: .5rem; }
  button, input[type=text] { box-sizing: border-box; font: inherit; padding: .6rem .8rem; width: 100%; }
  button { cursor: pointer; text-align: start; }
  :focus-visible { outline: 3px solid #2563eb; outline-offset: 2px; }
  code { font-size: 1.5rem; letter-spacing: .1em; }
  small { display: block; }
  [role=alert] { font-weight: 600; }
`;

/**
 * Nothing but this one style, from nowhere. `script-src` stays empty so that the provider can add the hash of the
 * script by which its own forms submit themselves. Browsers hold the redirect after a form to `form-action` too, so
 * the loopback addresses of the clients are in it.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'script-src',
  "form-action 'self' http://127.0.0.1:*",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** On every answer of the provider; only its pages need them, but a missed one would matter. */
export const SECURITY_HEADERS: Record<string, string> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

export function page(title: string, content: Markup): string {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`.text;
}
