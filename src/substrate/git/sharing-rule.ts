import type { ConfigEntry } from './user-configuration.ts';

/**
 * How `core.sharedRepository` changes the modes of new files: not at all, by adding bits, or to exactly these bits. A group of people uses
 * it to share a repository, whatever the umask of each.
 */
export type SharingRule =
  | { readonly type: 'umask' }
  | { readonly type: 'add'; readonly bits: number }
  | { readonly type: 'exact'; readonly bits: number };

const GROUP: SharingRule = { type: 'add', bits: 0o660 };
const EVERYBODY: SharingRule = { type: 'add', bits: 0o664 };
const UMASK: SharingRule = { type: 'umask' };
const WORDS: Readonly<Record<string, SharingRule>> = {
  ...{ umask: UMASK, false: UMASK, no: UMASK, off: UMASK, '': UMASK },
  ...{ group: GROUP, true: GROUP, yes: GROUP, on: GROUP },
  ...{ all: EVERYBODY, world: EVERYBODY, everybody: EVERYBODY },
};

export function sharedSetting(entries: readonly ConfigEntry[]): string | undefined {
  return entries.findLast(({ key }) => key === 'core.sharedrepository')?.value;
}

/** As git reads the setting's value. A value that git itself refuses counts as none. */
export function parseSharingRule(value: string | undefined): SharingRule {
  if (value === undefined) return UMASK;
  if (!/^[0-7]+$/.test(value)) return WORDS[value.toLowerCase()] ?? UMASK;
  const number = Number.parseInt(value, 8);
  if (number === 0) return UMASK;
  if (number === 1) return GROUP;
  if (number === 2) return EVERYBODY;
  return { type: 'exact', bits: number & 0o666 };
}

const SET_GID = 0o2000;

/** The mode that git gives a file or folder which the system made with the mode `made`. */
export function decideSharedMode(rule: SharingRule, made: number, isFolder: boolean): number {
  if (rule.type === 'umask') return made;
  const write = (made & 0o200) === 0 ? 0o444 : 0o666;
  const bits = rule.bits & write;
  const executed = (made & 0o100) === 0 ? bits : bits | ((bits & 0o444) >> 2);
  const mode = rule.type === 'exact' ? (made & ~0o777) | executed : made | executed;
  if (!isFolder) return mode;
  const entered = mode | ((mode & 0o444) >> 2);
  return (entered & 0o060) === 0 ? entered : entered | SET_GID;
}
