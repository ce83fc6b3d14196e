import { SquadError } from './errors.ts';

/** Resources that a machine can run out of, or that it limits for a user, with the command that shows the limit. */
const LIMITS = {
  files: 'the machine is out of open files (`ulimit -n`)',
  processes: 'the machine is out of processes (`ulimit -u`)',
  size: 'a file would be larger than this user’s files may be (`ulimit -f`)',
  memory: 'the machine is out of memory (`ulimit -v`)',
} as const;
export type Limit = keyof typeof LIMITS;

const CODES: Readonly<Record<string, Limit>> = {
  EMFILE: 'files',
  ENFILE: 'files',
  EAGAIN: 'processes',
  ENOMEM: 'memory',
  EFBIG: 'size',
};

/** Texts in the output of programs, which report no error code. */
const WORDS: readonly (readonly [RegExp, Limit])[] = [
  [/\b(?:EMFILE|ENFILE)\b|Too many open files/, 'files'],
  [/\bEAGAIN\b|Resource temporarily unavailable|[Cc]annot fork|unable to fork/, 'processes'],
  [/\bEFBIG\b|File too large/, 'size'],
  [/\bENOMEM\b|Cannot allocate memory|Out of memory/, 'memory'],
];

/** The error where a code of the system says that a limit is reached; undefined: it says something else. */
export function limitByCode(code: string | undefined, cause: unknown): SquadError | undefined {
  const limit = code === undefined ? undefined : CODES[code];
  return limit && limitReached(limit, cause);
}

/** As `limitByCode`, from the output of a program. */
export function limitByWords(text: string, cause: unknown): SquadError | undefined {
  const limit = WORDS.find(([pattern]) => pattern.test(text))?.[1];
  return limit && limitReached(limit, cause);
}

/** The error that names a limit which is known to be reached. */
export function limitReached(limit: Limit, cause: unknown): SquadError {
  return new SquadError({
    code: 'machine-limit',
    message: `${LIMITS[limit]}; nothing that is recorded is lost`,
    next: 'Raise the limit or end other programs, then continue what was under way: `squad resume`.',
    cause,
  });
}
