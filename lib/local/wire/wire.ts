import type { IncomingMessage, ServerResponse } from 'node:http';
import { AwsError, type AwsResponse, type Protocol } from './aws.ts';

/**
 * The same fault has another name, and sometimes another status, in each of AWS's protocols. JSON services
 * use the name on the left with status 400, REST-JSON services the same name with 403.
 */
const spellings: Record<string, { json?: string; xml: [string, number]; query: [string, number] }> = {
  UnrecognizedClientException: { xml: ['InvalidAccessKeyId', 403], query: ['InvalidClientTokenId', 403] },
  InvalidSignatureException: { xml: ['SignatureDoesNotMatch', 403], query: ['SignatureDoesNotMatch', 403] },
  RequestTimeTooSkewed: {
    json: 'InvalidSignatureException',
    xml: ['RequestTimeTooSkewed', 403],
    query: ['SignatureDoesNotMatch', 403],
  },
  XAmzContentSHA256Mismatch: {
    json: 'InvalidSignatureException',
    xml: ['XAmzContentSHA256Mismatch', 400],
    query: ['SignatureDoesNotMatch', 403],
  },
  IncompleteSignatureException: {
    xml: ['AuthorizationHeaderMalformed', 400],
    query: ['IncompleteSignature', 400],
  },
  ExpiredTokenException: { xml: ['ExpiredToken', 400], query: ['ExpiredToken', 403] },
  AccessDeniedException: { xml: ['AccessDenied', 403], query: ['AccessDenied', 403] },
  ServiceUnavailableException: { xml: ['ServiceUnavailable', 503], query: ['ServiceUnavailable', 503] },
  InternalFailure: { xml: ['InternalError', 500], query: ['InternalFailure', 500] },
};

export function errorAnswer(protocol: Protocol, error: AwsError, requestId: string): AwsResponse {
  const { code, status } = spell(protocol, error);
  const retry: Record<string, string> = status === 503 ? { 'retry-after': '1' } : {};
  switch (protocol) {
    case 'json-1.0':
    case 'json-1.1':
    case 'rest-json': {
      const type = protocol === 'rest-json' ? 'application/json' : `application/x-amz-${protocol}`;
      const headers = { 'content-type': type, 'x-amzn-errortype': code, ...retry };
      return { status, headers, body: JSON.stringify({ __type: code, message: error.message }) };
    }
    case 'rest-xml':
      return xmlAnswer(
        `<Error><Code>${escapeXml(code)}</Code><Message>${escapeXml(error.message)}</Message><RequestId>${requestId}</RequestId></Error>`,
        status,
        retry,
      );
    case 'query': {
      const fault = status < 500 ? 'Sender' : 'Receiver';
      return xmlAnswer(
        `<ErrorResponse><Error><Type>${fault}</Type><Code>${escapeXml(code)}</Code><Message>${escapeXml(error.message)}</Message></Error><RequestId>${requestId}</RequestId></ErrorResponse>`,
        status,
        retry,
      );
    }
    default:
      return protocol satisfies never;
  }
}

export function xmlAnswer(xml: string, status = 200, headers: Record<string, string> = {}): AwsResponse {
  return {
    status,
    headers: { 'content-type': 'application/xml', ...headers },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n${xml}`,
  };
}

export function escapeXml(text: string): string {
  const named: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&apos;',
  };
  return text.replace(/[&<>"']/g, (character) => named[character] ?? character);
}

/** How to answer a request for a service that is not there to tell. */
export function guessProtocol(headers: Record<string, string>): Protocol {
  if (headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return 'query';
  return headers['x-amz-target'] === undefined ? 'rest-json' : 'json-1.1';
}

/** Never parsed as a URL: what a client sends need not be one. */
export function splitUrl(url = '/'): { path: string; search: string } {
  const question = url.indexOf('?');
  if (question < 0) return { path: url, search: '' };
  return { path: url.slice(0, question), search: url.slice(question + 1) };
}

export function writeAnswer(outgoing: ServerResponse, answer: AwsResponse): void {
  const { status, headers, cookies = [], body = '' } = answer;
  // A HEAD says what a GET would have sent, if whoever answered knows; these two never have a body.
  const isBare = outgoing.req.method === 'HEAD' || status === 204 || status === 304;
  outgoing.writeHead(status, {
    ...headers,
    ...(cookies.length > 0 && { 'set-cookie': cookies }),
    ...(!isBare && { 'content-length': Buffer.byteLength(body) }),
  });
  outgoing.end(isBare ? undefined : body);
}

export async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Not destroyed when too long: that would cut the connection before the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      request.resume();
      throw new AwsError(
        'RequestEntityTooLarge',
        `The body is larger than the ${bytesMax} bytes accepted here.`,
        413,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** `<hex size>[;extension]\r\n<bytes>\r\n … 0\r\n<trailer: value>\r\n … \r\n` */
export function decodeAwsChunked(encoded: Buffer): { body: Buffer; trailers: Record<string, string> } {
  const chunks: Buffer[] = [];
  let offset = 0;
  for (;;) {
    const lineEnd = encoded.indexOf('\r\n', offset);
    const size = lineEnd < 0 ? '' : (encoded.toString('latin1', offset, lineEnd).split(';')[0] ?? '');
    if (!/^[0-9a-fA-F]{1,8}$/.test(size)) throw malformedChunks();
    const start = lineEnd + 2;
    const end = start + Number.parseInt(size, 16);
    if (end === start)
      return { body: Buffer.concat(chunks), trailers: readTrailers(encoded.toString('latin1', start)) };
    if (encoded.toString('latin1', end, end + 2) !== '\r\n') throw malformedChunks();
    chunks.push(encoded.subarray(start, end));
    offset = end + 2;
  }
}

function readTrailers(text: string): Record<string, string> {
  const pairs = text
    .split('\r\n')
    .filter((line) => line.includes(':'))
    .map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    });
  return Object.fromEntries(pairs);
}

function malformedChunks(): AwsError {
  return new AwsError('IncompleteBody', 'The body ended before the last of its aws-chunked parts.');
}

function spell(protocol: Protocol, error: AwsError): { code: string; status: number } {
  const spelling = spellings[error.code];
  if (spelling === undefined) return error;
  if (protocol === 'rest-xml' || protocol === 'query') {
    const [code, status] = protocol === 'query' ? spelling.query : spelling.xml;
    return { code, status };
  }
  const status = protocol === 'rest-json' && error.status === 400 ? 403 : error.status;
  return { code: spelling.json ?? error.code, status };
}
