/**
 * Who stands behind a source address. With IPv6 a single customer holds a /64 at least, and could have a bucket for
 * every address in it.
 */
export function networkOf(sourceIp: string): string {
  if (!sourceIp.includes(':')) return sourceIp;
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(sourceIp)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = sourceIp.split('::');
  const leading = head === '' ? [] : head.split(':');
  const trailing = tail ? tail.split(':') : [];
  const omitted = tail === undefined ? 0 : Math.max(8 - leading.length - trailing.length, 0);
  const groups = [...leading, ...Array<string>(omitted).fill('0'), ...trailing];
  return groups.slice(0, 4).map(plainGroup).join(':') + '::/64';
}

function plainGroup(group: string): string {
  return group.toLowerCase().replace(/^0+(?=.)/, '');
}
