import type { RouteSpec } from './apis.ts';

export interface RouteMatch {
  route: RouteSpec;
  parameters: Record<string, string>;
}

/**
 * Picks the route as an HTTP API does: the most specific path wins (a literal segment before a parameter, a
 * parameter before a greedy one), then the exact method before ANY; `$default` takes what is left.
 */
export function matchRoute(routes: RouteSpec[], method: string, path: string): RouteMatch | undefined {
  const segments = path.split('/').slice(1);
  let best: { match: RouteMatch; rank: string } | undefined;
  for (const route of routes) {
    const [routeMethod, routePath] = route.key.split(' ');
    if (routePath === undefined || (routeMethod !== method && routeMethod !== 'ANY')) continue;
    const match = matchPath(routePath.split('/').slice(1), segments);
    if (match === undefined) continue;
    const rank = match.rank + (routeMethod === 'ANY' ? '1' : '0');
    if (best === undefined || rank < best.rank)
      best = { match: { route, parameters: match.parameters }, rank };
  }
  if (best !== undefined) return best.match;
  const fallback = routes.find((route) => route.key === '$default');
  return fallback && { route: fallback, parameters: {} };
}

/** The rank has one digit a segment, 0 literal, 1 parameter, 2 greedy: smaller sorts first. */
function matchPath(
  pattern: string[],
  segments: string[],
): { parameters: Record<string, string>; rank: string } | undefined {
  const parameters: Record<string, string> = {};
  let rank = '';
  for (const [index, part] of pattern.entries()) {
    const greedy = /^\{(.+)\+\}$/.exec(part);
    if (greedy?.[1] !== undefined) {
      if (segments.length <= index) return undefined;
      parameters[greedy[1]] = segments.slice(index).join('/');
      return { parameters, rank: `${rank}2` };
    }
    const segment = segments[index];
    if (segment === undefined) return undefined;
    const parameter = /^\{(.+)\}$/.exec(part);
    if (parameter?.[1] !== undefined) {
      if (segment === '') return undefined;
      parameters[parameter[1]] = segment;
      rank += '1';
    } else if (part === segment) {
      rank += '0';
    } else {
      return undefined;
    }
  }
  return segments.length === pattern.length ? { parameters, rank } : undefined;
}
