export interface DiffLine {
  readonly is: 'same' | 'old' | 'new';
  readonly text: string;
}

/** The lines of both texts in order, with those that only one has. Takes time by the product of their numbers of lines. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  // The lengths of the longest common rest, by the lines that both begin with.
  const rest: Uint32Array[] = [];
  const at = (i: number, j: number): number => rest[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    const row = new Uint32Array(now.length + 1);
    rest[i] = row;
    for (let j = now.length - 1; j >= 0; j--) {
      row[j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ is: 'same', text: old[i] ?? '' });
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ is: 'old', text: old[i] ?? '' });
      i += 1;
    } else {
      lines.push({ is: 'new', text: now[j] ?? '' });
      j += 1;
    }
  }
  return lines;
}
