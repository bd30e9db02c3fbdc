// What a host runs to become one. `lib/bundle.ts` puts the texts of agent/bootstrap/ in these places.

declare const BOOTSTRAP_SCRIPT: string;
declare const CLOUD_INIT: string;

const PLATFORM_URL = /@PLATFORM_URL@/g;

/** As it is served: what it downloads later comes from where it came from itself. */
export const bootstrapScript = (platformUrl: string): string => at(BOOTSTRAP_SCRIPT, platformUrl);

export const cloudInit = (platformUrl: string): string => at(CLOUD_INIT, platformUrl);

const at = (text: string, platformUrl: string): string => text.replace(PLATFORM_URL, () => platformUrl);
