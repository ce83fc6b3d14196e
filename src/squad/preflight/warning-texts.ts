import type { Preflight } from './preflight.ts';

/**
 * The warnings of a checked run for people: without those of the machine, which `squad doctor` reports, and without facts that a person on
 * this machine has read before.
 */
export async function warningTexts(stateDirectory: string, warnings: Preflight['warnings']): Promise<string[]> {
  let hasFacts = false;
  for (const one of warnings) hasFacts ||= 'once' in one;
  const notes = hasFacts ? await (await import('./said-notes.ts')).notesToSay(stateDirectory, warnings) : warnings;
  const texts: string[] = [];
  for (const { about, text, next } of notes)
    if (about !== 'git-version') texts.push(next === undefined ? text : `${text}. ${next}`);
  return texts;
}
