/** Joins a reason of several lines into one line. A line that ends with a colon leads to the next one. */
export function reasons(why: string): string {
  return why.trim().replaceAll(/(:?)\s*\n\s*/g, (_, colon: string) => (colon === '' ? '; ' : ': '));
}
