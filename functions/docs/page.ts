import type { OpenapiDocument, Operation } from './document.ts';
import { html, Markup } from './markup.ts';
import { renderOperation } from './operation.ts';
import { STYLE } from './style.ts';

// In one piece: its hash is of every character between the tags.
const STYLE_ELEMENT = new Markup(`<style>${STYLE}</style>`);

/** The whole API on one page that needs nothing but itself: no script, no font, no picture. */
export function renderPage(document: OpenapiDocument): string {
  const { title, version, description } = document.info;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <h1>${title}</h1>
          <p>
            Version ${version}. For programs: <a href="/api/v1/openapi.json">openapi.json</a>; events:
            <a href="/api/v1/asyncapi.json">asyncapi.json</a>.
          </p>
        </header>
        <nav aria-label="Routes">
          ${document.tags.map(({ name }) => renderContents(document, name))}
          <h2><a href="#problems">Problems</a></h2>
        </nav>
        <main id="content">
          ${description.split('\n\n').map((paragraph) => html`<p>${paragraph}</p>`)}
          ${document.tags.map((tag) => renderDomain(document, tag))} ${renderProblems(document)}
        </main>
      </body>
    </html> `.text;
}

interface Listed {
  path: string;
  method: string;
  operation: Operation;
}

function operationsOf(document: OpenapiDocument, tag: string): Listed[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ path, method, operation })),
  );
}

function renderContents(document: OpenapiDocument, tag: string): Markup {
  const links = operationsOf(document, tag).map(
    ({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`,
  );
  return html`<h2><a href="#domain-${tag}">${tag}</a></h2>
    <ul>
      ${links}
    </ul>`;
}

function renderDomain(
  document: OpenapiDocument,
  { name, description }: OpenapiDocument['tags'][number],
): Markup {
  const operations = operationsOf(document, name).map(({ path, method, operation }) =>
    renderOperation(document, path, method, operation),
  );
  return html`<section aria-labelledby="domain-${name}">
    <h2 id="domain-${name}">${name}</h2>
    <p>${description}</p>
    ${operations}
  </section>`;
}

function renderProblems(document: OpenapiDocument): Markup {
  const rows = document['x-problems'].map(
    ({ code, status, retryable, title }) =>
      html` <tr id="problem-${code}">
        <th scope="row"><code>${code}</code></th>
        <td>${status}</td>
        <td>${title}</td>
        <td>${retryable ? 'yes' : 'no'}</td>
      </tr>`,
  );
  return html`<section aria-labelledby="problems">
    <h2 id="problems">Problems</h2>
    <p>
      Every refusal is a problem document (RFC 9457). Match on <code>code</code>; quote
      <code>correlation_id</code> when you ask for help.
    </p>
    <table>
      <thead>
        <tr>
          <th scope="col">Code</th>
          <th scope="col">Status</th>
          <th scope="col">Meaning</th>
          <th scope="col">May the same request succeed later?</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </section>`;
}
