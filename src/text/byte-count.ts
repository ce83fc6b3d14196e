const UNITS = ['kB', 'MB', 'GB', 'TB'] as const;

/** `812 B`, `4.1 kB`, `38 MB`. */
export function byteCount(bytes: number): string {
  let [size, unit] = [bytes, 'B'];
  for (const next of UNITS) {
    if (Math.round(size) < 1000) break;
    [size, unit] = [size / 1000, next];
  }
  return `${unit !== 'B' && size < 9.95 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}
