import { quote } from '../../text/problem.ts';
import { SquadError } from '../../model/errors.ts';
import { isSlug, LONGEST_SLUG, numbered, plainSlug } from '../../model/slug.ts';

/** A name that no run or branch has. `given` is used as it is or refused; another taken name gets a number. */
export function nameRun(
  { given, objective, title }: { given?: string | undefined; objective?: string | undefined; title: string },
  taken: readonly string[],
): string {
  if (given === undefined) return freeName(objective ?? slugOf(title), taken);
  if (!taken.includes(given)) return given;
  throw new SquadError({
    code: 'bad-input',
    message: `a run or branch named ${given} already exists`,
    next: `Choose another --name, or continue that run: \`squad resume ${given}\`.`,
  });
}

/** Called before any other check, because the name becomes a path. */
export function refuseBadName(name: string | undefined): void {
  if (name === undefined || isSlug(name)) return;
  throw new SquadError({
    code: 'bad-input',
    message: `--name ${quote(name)} needs lower-case letters, digits and dashes, starting with a letter, at most 32 characters`,
    next: 'Choose another name, for example `--name login-form`.',
  });
}

/** `Äpfel & Öl: 2nd try!` → `apfel-ol-2nd-try`; `run` if nothing is left. */
export function slugOf(title: string): string {
  return cut(plainSlug(title).replace(/^[^a-z]+/, ''), LONGEST_SLUG) || 'run';
}

function freeName(name: string, names: readonly string[]): string {
  const taken = new Set(names);
  if (!taken.has(name)) return name;
  for (let number = 2; ; number += 1) {
    const candidate = numbered(name, number, cut);
    if (!taken.has(candidate)) return candidate;
  }
}

/** Cuts at the end of a word if that keeps more than half. */
function cut(text: string, longest: number): string {
  const trimmed = text.replace(/-+$/, '');
  if (trimmed.length <= longest) return trimmed;
  const start = trimmed.slice(0, longest);
  const word = trimmed[longest] === '-' ? start.length : start.lastIndexOf('-');
  return (word > longest / 2 ? start.slice(0, word) : start).replace(/-+$/, '');
}
