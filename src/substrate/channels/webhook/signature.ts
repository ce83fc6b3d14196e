import { createHmac, timingSafeEqual } from 'node:crypto';

/** An older or newer time is refused. */
const MOST_AGE_MS = 300_000;

/** The header with the time, in seconds since 1970, and the one with the signature. */
export const TIME_HEADER = 'squad-time';
export const SIGNATURE_HEADER = 'squad-signature';

/** Signs the time, a dot, and the body, byte by byte. */
export function signatureOf(secret: string, time: string, body: string | Uint8Array): string {
  return `v1=${createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex')}`;
}

/** Headers that prove who sent a body, and when. */
export function signed(secret: string, body: string, now: number): Record<string, string> {
  const time = String(Math.floor(now / 1000));
  return { [TIME_HEADER]: time, [SIGNATURE_HEADER]: signatureOf(secret, time, body) };
}

interface Given {
  readonly time: string | undefined;
  readonly signature: string | undefined;
  readonly body: string | Uint8Array;
}

/** Remembers signatures as long as their time would let them in again. */
export function createVerifier(secret: string, now: () => number) {
  const seen = new Map<string, number>();
  const isInTime = (time: string): boolean => {
    return /^\d{1,12}$/.test(time) && Math.abs(now() - Number(time) * 1000) <= MOST_AGE_MS;
  };
  return {
    /** Why the body has to be refused before it is read; undefined: its time is one of now. */
    timeProblem: (time: string | undefined): string | undefined =>
      time === undefined || !isInTime(time) ? `${TIME_HEADER} is missing, or more than five minutes off` : undefined,
    /** `once`: the same signature is refused from the second time on. */
    problem: ({ time = '', signature = '', body }: Given, { once }: { readonly once: boolean }): string | undefined => {
      if (!isInTime(time)) return `${TIME_HEADER} is missing, or more than five minutes off`;
      const [right, given] = [signatureOf(secret, time, body), signature].map((text) => Buffer.from(text));
      if (
        right?.length !== given?.length ||
        right === undefined ||
        given === undefined ||
        !timingSafeEqual(right, given)
      )
        return `${SIGNATURE_HEADER} is not that of this time and body`;
      if (!once) return undefined;
      for (const [known, at] of seen) if (now() - at > 2 * MOST_AGE_MS) seen.delete(known);
      if (seen.has(signature)) return 'this was sent before';
      seen.set(signature, now());
      return undefined;
    },
    /** A message that could not be taken may be sent again as it is. */
    forget: (signature: string | undefined): void => void seen.delete(signature ?? ''),
  };
}
