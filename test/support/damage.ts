import { readFileSync, writeFileSync } from 'node:fs';

const PAGE_BYTES = 4096;

/** Ways in which a file comes to harm; `random` gives numbers from 0 up to 1. */
export const DAMAGES = {
  'a flipped bit': (bytes: Buffer, random: () => number) => {
    const at = Math.floor(random() * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    return bytes;
  },
  'a zeroed page': (bytes: Buffer, random: () => number) => {
    const page = Math.floor((random() * bytes.length) / PAGE_BYTES);
    return bytes.fill(0, page * PAGE_BYTES, Math.min((page + 1) * PAGE_BYTES, bytes.length));
  },
  'a page in the place of another': (bytes: Buffer, random: () => number) => {
    const [from, to] = [0, 1].map(() => Math.floor((random() * bytes.length) / PAGE_BYTES) * PAGE_BYTES);
    bytes.copyWithin(to ?? 0, from ?? 0, (from ?? 0) + PAGE_BYTES);
    return bytes;
  },
  'a cut': (bytes: Buffer, random: () => number) => bytes.subarray(0, Math.floor(random() * bytes.length)),
  garbage: (bytes: Buffer, random: () => number) => bytes.fill(0xa5, Math.floor(random() * bytes.length)),
  nothing: () => Buffer.alloc(0),
} satisfies Record<string, (bytes: Buffer, random: () => number) => Buffer>;

export type Damage = keyof typeof DAMAGES;

/** Returns the bytes as they were. */
export function damageFile(path: string, damage: Damage, random: () => number): Buffer {
  const whole = readFileSync(path);
  writeFileSync(path, DAMAGES[damage](Buffer.from(whole), random));
  return whole;
}
