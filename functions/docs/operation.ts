import { curlOf } from './curl.ts';
import {
  type Answer,
  type OpenapiDocument,
  type Operation,
  type Parameter,
  resolve,
  type Schema,
} from './document.ts';
import { fieldsOf, rulesOf, typeOf, valuesOf } from './fields.ts';
import { html, type Markup } from './markup.ts';

/** One route: what it asks for, what it answers, and how to call it. */
export function renderOperation(
  document: OpenapiDocument,
  path: string,
  method: string,
  operation: Operation,
): Markup {
  const { operationId, summary, 'x-permission': permission } = operation;
  return html` <article aria-labelledby="${operationId}">
    <h3 id="${operationId}"><a href="#${operationId}">${summary}</a></h3>
    <p class="route"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></p>
    <p>${who(permission)}</p>
    ${renderParameters(document, operation)} ${renderBody(document, operation)}
    ${renderAnswers(document, operation)}
    <h4>Example</h4>
    <pre tabindex="0"><code>${curlOf(document, method, path, operation)}</code></pre>
  </article>`;
}

function who(permission: string): Markup {
  if (permission === 'public') return html`Open to anyone.`;
  if (permission === 'signed_in') return html`Needs a valid token.`;
  if (permission === 'iam')
    return html`For the platform team: sign the request with AWS credentials (Signature Version 4).`;
  return html`Needs the permission <code>${permission}</code>.`;
}

function renderParameters(document: OpenapiDocument, { parameters }: Operation): Markup | undefined {
  const rows = parameters
    .map((each) => resolve<Parameter>(document, each))
    .map(({ name, in: place, required, description, schema }) => ({
      name,
      mark: required && 'required',
      type: `${typeOf(document, schema)}, in the ${place}`,
      notes: [description, ...rulesOf(resolve<Schema>(document, schema))],
    }));
  return rows.length > 0
    ? html`<h4>Parameters</h4>
        ${renderTable('Parameter', rows)}`
    : undefined;
}

function renderBody(document: OpenapiDocument, { requestBody }: Operation): Markup | undefined {
  const [media] = Object.values(requestBody?.content ?? {});
  if (!requestBody || !media) return undefined;
  // All media types have the same schema.
  const note = Object.keys(requestBody.content).join(' or ') + (requestBody.required ? '' : '; optional');
  const known = resolve<Schema>(document, media.schema);
  const alternatives = (known.anyOf ?? [known]).map((each, index) => renderSent(document, each, index > 0));
  return html`<h4>Body</h4>
    <p>${note}</p>
    ${alternatives}`;
}

function renderSent(document: OpenapiDocument, schema: Schema, isAlternative: boolean): Markup {
  const rows = fieldsOf(document, schema).map((field) => ({
    name: field.path,
    mark: field.isRequired && 'required',
    type: field.type,
    notes: [field.schema.description, ...rulesOf(field.schema)],
  }));
  const known = resolve<Schema>(document, schema);
  const rules = rulesOf(known).join('; ');
  // A schema that is not an object has a description that says where its format is documented.
  const members = rows.length > 0 ? renderTable('Member', rows) : html`<p>${known.description}</p>`;
  return html`${isAlternative && html`<p>or</p>`} ${members}
  ${rules !== '' && html`<p class="note">${rules}</p>`}`;
}

function renderAnswers(document: OpenapiDocument, operation: Operation): Markup {
  const parts = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([status, answer]) => renderSuccess(document, status, resolve<Answer>(document, answer)));
  return html`<h4>Answers</h4>
    ${parts}${renderRefusals(document, operation)}`;
}

function renderSuccess(document: OpenapiDocument, status: string, answer: Answer): Markup {
  const headers = Object.keys(answer.headers ?? {}).map(
    (name, index) => html`${index > 0 && ', '}<code>${name}</code>`,
  );
  const [[media, content] = []] = Object.entries(answer.content ?? {});
  // For an answer only the possible values matter, not the validation rules.
  const rows = (content ? fieldsOf(document, content.schema) : []).map((field) => ({
    name: field.path,
    mark: !field.isRequired && 'not always present',
    type: field.type,
    notes: [field.schema.description, ...valuesOf(field.schema)],
  }));
  return html`<p>
      <strong>${status}</strong> ${answer.description}${media && `, as ${media}`}, with the headers
      ${headers}.
    </p>
    ${rows.length > 0 && renderTable('Member', rows)}`;
}

function renderRefusals(document: OpenapiDocument, operation: Operation): Markup {
  const statusOf = new Map(document['x-problems'].map(({ code, status }) => [code, status]));
  const byStatus = Object.keys(operation.responses)
    .filter((status) => !status.startsWith('2'))
    .map((status) => {
      const codes = operation['x-problem-codes'].filter((code) => String(statusOf.get(code)) === status);
      const links = codes.map(
        (code, index) => html`${index > 0 && ', '}<a href="#problem-${code}"><code>${code}</code></a>`,
      );
      return html`<li><strong>${status}</strong> ${links}</li>`;
    });
  return html`<p>Refused, as <code>application/problem+json</code>:</p>
    <ul class="refusals">
      ${byStatus}
    </ul>`;
}

interface Row {
  name: string;
  mark: string | false;
  type: string;
  notes: (string | undefined)[];
}

function renderTable(what: string, rows: Row[]): Markup {
  const body = rows.map(
    ({ name, mark, type, notes }) =>
      html`<tr>
        <th scope="row"><code>${name}</code>${mark && html` <span class="note">${mark}</span>`}</th>
        <td>${type}</td>
        <td>${notes.filter((note) => note !== undefined).join('; ')}</td>
      </tr>`,
  );
  return html`<table>
    <thead>
      <tr>
        <th scope="col">${what}</th>
        <th scope="col">Type</th>
        <th scope="col">Notes</th>
      </tr>
    </thead>
    <tbody>
      ${body}
    </tbody>
  </table>`;
}
