/** The command line's client of the provider on a development machine; Cognito makes up the ids of its clients. */
export const CLI_CLIENT_ID = 'gpuaas-cli';

/** Where somebody who develops the console runs it. */
export const CONSOLE_DEV_SERVER = 'http://127.0.0.1:5173';

const FIRST_PORT = 8250;

/**
 * Where the command line listens for the answer to a sign-in, at the first address that is free. RFC 8252 §7.3 would
 * let it take any port, but Cognito compares addresses letter by letter, so every issuer is told these.
 */
export const CLI_CALLBACKS = [0, 1, 2].map((next) => `http://127.0.0.1:${FIRST_PORT + next}/callback`) as [
  string,
  ...string[],
];
