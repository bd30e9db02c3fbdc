/** Stands for packages that the bundled agent names and never calls (lib/agent-bundle.ts). */
export const unreached = undefined;
