/** The known word that a mistyped one most likely meant; undefined if none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > 40) return undefined;
  const lower = word.toLowerCase();
  const ranked = known
    .map((name) => ({ name, distance: distance(lower, name.toLowerCase()) }))
    .filter((entry) => entry.distance <= Math.max(2, Math.floor(entry.name.length / 3)) && entry.distance < word.length)
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.name;
}

/** Levenshtein's, with swapped neighbours as one step. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + same,
        swapped ? (before[j - 2] ?? 0) + 1 : Infinity,
      );
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
