/** Time is injected: rules take a `Date`, only the edges ask this clock. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();

export function secondsAfter(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000);
}

/** The unit of DynamoDB's time-to-live attribute. */
export function epochSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
