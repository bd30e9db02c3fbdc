/** The node's own routes, below the platform's address. */
export const nodePath = (nodeId: string, rest: string): string => `/api/v1/nodes/${nodeId}${rest}`;
