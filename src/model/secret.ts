import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits, as a word that needs no escape in an address or a header. */
export function makeSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Takes the same time for every wrong one. */
export function isSameSecret(given: string, wanted: string): boolean {
  const [one, other] = [given, wanted].map((text) => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}
