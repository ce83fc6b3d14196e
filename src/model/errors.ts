const MARK = Symbol.for('agentsquad.error');

/** Exit codes are API: 2 usage, 65 bad data, 75 busy, 78 wrong environment. The others are in docs/errors.md. */
export type ErrorExitCode = 1 | 2 | 65 | 70 | 75 | 78;

/** Stable names of the errors that squad reports, with their exit codes. docs/errors.md explains each. */
export const ERROR_CODES = {
  usage: 2,
  'not-a-repository': 78,
  'wrong-environment': 78,
  'not-trusted': 78,
  'sqlite-unsafe': 78,
  'network-filesystem': 78,
  'schema-newer': 78,
  'schema-older': 78,
  'database-corrupt': 65,
  'storage-full': 75,
  'storage-refused': 75,
  'machine-limit': 75,
  'workspace-busy': 75,
  'port-busy': 75,
  'git-locked': 75,
  'lease-fenced': 75,
  'cursor-refused': 75,
  'bad-input': 65,
  'unknown-attempt': 2,
  unfinished: 70,
} as const satisfies Record<string, ErrorExitCode>;

/** The stable name of an error. */
export type ErrorCode = keyof typeof ERROR_CODES;

/**
 * The only error that squad shows to a person: what happened, and the next command. Any other thrown value is a bug.
 * Use `isSquadError`, not `instanceof`, because an error can come from another copy of the package.
 */
export class SquadError extends Error {
  readonly code: ErrorCode;
  /** One sentence: what to do next, with a command if one helps. */
  readonly next: string | undefined;
  readonly [MARK] = true;

  constructor(options: { code: ErrorCode; message: string; next?: string; cause?: unknown }) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SquadError';
    this.code = options.code;
    this.next = options.next;
  }

  get exitCode(): ErrorExitCode {
    return ERROR_CODES[this.code];
  }
}

export function usageError(message: string, next: string): SquadError {
  return new SquadError({ code: 'usage', message, next });
}

export function wrongEnvironment(message: string, next?: string): SquadError {
  return new SquadError({ code: 'wrong-environment', message, ...(next === undefined ? {} : { next }) });
}

export function badInput(message: string, next?: string): SquadError {
  return new SquadError({ code: 'bad-input', message, ...(next === undefined ? {} : { next }) });
}

/** Whether this is an error that squad reports, from whichever copy of the package. Never throws. */
export function isSquadError(value: unknown): value is SquadError {
  return typeof value === 'object' && value !== null && (value as { [MARK]?: unknown })[MARK] === true;
}

/** Any thrown value as one line of text. */
export function errorText(value: unknown): string {
  return value instanceof Error ? value.message : String(value);
}
