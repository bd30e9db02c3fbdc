/** Why there is no token, in words for the person who asked. */
export class NoToken extends Error {}
