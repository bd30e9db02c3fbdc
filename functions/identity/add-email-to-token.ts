import * as v from 'valibot';
import { trigger } from '../platform/auth/trigger.ts';

/** Cognito's pre token generation event, version 2. Attributes are text, whatever their type. */
const TokenEvent = v.looseObject({
  request: v.looseObject({
    userAttributes: v.looseObject({
      email: v.optional(v.string()),
      email_verified: v.optional(v.string()),
    }),
  }),
});

/** Cognito tells the address in identity tokens alone; by it, an invitation reaches nobody but whom it was sent to. */
export const handler = trigger(TokenEvent, (_ctx, event) => {
  const { email, email_verified } = event.request.userAttributes;
  const claims = email === undefined ? {} : { email, email_verified: email_verified === 'true' };
  return {
    ...event,
    response: {
      claimsAndScopeOverrideDetails: { accessTokenGeneration: { claimsToAddOrOverride: claims } },
    },
  };
});
