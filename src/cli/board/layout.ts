/** A part of the frame. */
export interface Section {
  /** Lines without which it says too little; it may get fewer in a small terminal. */
  readonly least: number;
  /** Lines that it can use. */
  readonly most: number;
  /** At most `height` lines. */
  readonly render: (height: number) => readonly string[];
}

/**
 * The heights of sections, which are ordered by importance: each gets its least while there is room, then the most important ones
 * get what they can use.
 */
export function heightsOf(sections: readonly Pick<Section, 'least' | 'most'>[], rows: number): number[] {
  let left = rows;
  const heights = sections.map(({ least, most }) => {
    const height = Math.max(0, Math.min(least, most, left));
    left -= height;
    return height;
  });
  return sections.map(({ most }, index) => {
    const height = heights[index] ?? 0;
    const more = Math.max(0, Math.min(most - height, left));
    left -= more;
    return height + more;
  });
}
