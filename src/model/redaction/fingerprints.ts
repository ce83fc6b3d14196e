import { createHash, randomBytes } from 'node:crypto';

/** For a process that removes secrets without having them. A reader of a fingerprint can test guesses of its text. */
export interface Fingerprints {
  readonly salt: string;
  /** Length in UTF-16 units, rolling hash, digest. */
  readonly marks: readonly (readonly [length: number, hash: number, digest: string])[];
}

export const NO_FINGERPRINTS: Fingerprints = { salt: 'none', marks: [] };

/** Odd, so that no bit of an early character is lost. */
const BASE = 16_777_619;

export function fingerprintsOf(texts: readonly string[]): Fingerprints {
  const salt = randomBytes(16).toString('hex');
  const marks = texts.map((text): Fingerprints['marks'][number] => [text.length, hashOf(text), digestOf(text, salt)]);
  return { salt, marks };
}

/** The fingerprints without those of these texts, for a reader that has them. */
export function withoutKnown({ salt, marks }: Fingerprints, texts: readonly string[]): Fingerprints {
  const lengths = new Set(marks.map(([length]) => length));
  const known = new Set(texts.filter((text) => lengths.has(text.length)).map((text) => digestOf(text, salt)));
  return { salt, marks: marks.filter(([, , digest]) => !known.has(digest)) };
}

/** The places of the fingerprinted texts in a text, in no order. Reads the text once for each length. */
export function findMarked(text: string, { salt, marks }: Fingerprints): [from: number, to: number][] {
  const lengths = new Set(marks.map(([length]) => length));
  return [...lengths].flatMap((length) => {
    const wanted = new Map<number, Set<string>>();
    for (const [of, hash, digest] of marks) {
      if (of === length) wanted.set(hash, (wanted.get(hash) ?? new Set()).add(digest));
    }
    return findLength(text, length, (hash, at) => {
      return wanted.get(hash)?.has(digestOf(text.slice(at, at + length), salt)) === true;
    });
  });
}

function findLength(
  text: string,
  length: number,
  isOne: (hash: number, at: number) => boolean,
): [from: number, to: number][] {
  const found: [number, number][] = [];
  if (text.length < length) return found;
  let leading = 1;
  for (let index = 1; index < length; index += 1) leading = Math.imul(leading, BASE);
  let hash = hashOf(text.slice(0, length));
  for (let at = 0; ; at += 1) {
    if (isOne(hash, at)) found.push([at, at + length]);
    if (at + length >= text.length) return found;
    const rest = hash - Math.imul(text.charCodeAt(at), leading);
    hash = (Math.imul(rest, BASE) + text.charCodeAt(at + length)) >>> 0;
  }
}

function hashOf(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index += 1) hash = (Math.imul(hash, BASE) + text.charCodeAt(index)) >>> 0;
  return hash;
}

function digestOf(text: string, salt: string): string {
  // UTF-16 like everything here, because half of a surrogate pair has no UTF-8 form.
  return createHash('sha256').update(salt).update(Buffer.from(text, 'utf16le')).digest('hex').slice(0, 32);
}
