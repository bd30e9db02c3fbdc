// The other way from der-writer.ts: X.690, as far as certificates and signatures need it.

export interface Element {
  tag: number;
  content: Uint8Array;
  /** Tag, length and content. */
  length: number;
}

/** The element that begins here. */
export function readElement(bytes: Uint8Array): Element {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined) throw new Error('The DER ends too early.');
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (lengthBytes > 4) throw new Error('The DER states an invalid length.');
  const size =
    first < 0x80
      ? first
      : bytes.subarray(2, 2 + lengthBytes).reduce((length, byte) => length * 256 + byte, 0);
  const start = 2 + lengthBytes;
  if (start + size > bytes.length) throw new Error('The DER ends too early.');
  return { tag, content: bytes.subarray(start, start + size), length: start + size };
}

/** All that stand in a sequence or a set. */
export function readElements(content: Uint8Array): Element[] {
  const elements: Element[] = [];
  for (let at = 0; at < content.length;) {
    const element = readElement(content.subarray(at));
    elements.push(element);
    at += element.length;
  }
  return elements;
}
