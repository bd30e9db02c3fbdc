import { type OpenapiDocument, type Operation, resolve } from './document.ts';

/** The call as one would type it, with the variables of the quickstart. */
export function curlOf(
  document: OpenapiDocument,
  method: string,
  path: string,
  operation: Operation,
): string {
  const lines = [
    `curl -s${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "$API_BASE_URL${withVariables(path)}"`,
  ];
  const [scheme] = operation.security.flatMap((each) => Object.keys(each));
  if (scheme === 'bearer') lines.push('-H "Authorization: Bearer $TOKEN"');
  if (scheme === 'sigv4') {
    lines.push('--aws-sigv4 "aws:amz:$AWS_REGION:execute-api"');
    lines.push('--user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"');
  }
  const keyed = operation.parameters
    .map((each) => resolve(document, each))
    .some(({ name, required }) => name === 'X-Idempotency-Key' && required);
  if (keyed) lines.push('-H "X-Idempotency-Key: $(uuidgen)"');
  const example = operation.requestBody?.content['application/json']?.example;
  if (example !== undefined) {
    lines.push('-H "Content-Type: application/json"', `-d ${quoted(JSON.stringify(example, null, 2))}`);
  }
  return lines.join(' \\\n  ');
}

const withVariables = (path: string): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`);

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
