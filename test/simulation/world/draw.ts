import { createHash } from 'node:crypto';

/** From 0 up to 1, by what is asked alone: the same question has the same answer, whenever it is asked. */
export function draw(seed: number, ...about: readonly (string | number)[]): number {
  const digest = createHash('sha256')
    .update([seed, ...about].join('\n'))
    .digest();
  return digest.readUInt32BE(0) / 4_294_967_296;
}

export function drawInt(from: number, to: number, seed: number, ...about: readonly (string | number)[]): number {
  return from + Math.floor(draw(seed, ...about) * (to - from + 1));
}

export function drawOf<T>(items: readonly [T, ...T[]], seed: number, ...about: readonly (string | number)[]): T {
  return items[Math.floor(draw(seed, ...about) * items.length)] ?? items[0];
}
