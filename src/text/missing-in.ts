/** An entry that says that there is none. */
const NOTHING = /^[^\p{L}\p{N}]*(?:none|nothing|n\/a|无|没有)?[^\p{L}\p{N}]*$/iu;

/** The entries of an agent's list of what is missing, without those that say that nothing is. */
export function missingIn(entries: readonly string[]): string[] {
  return entries.filter((text) => !NOTHING.test(text));
}
