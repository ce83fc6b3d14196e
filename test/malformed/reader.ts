import { fc } from '@fast-check/vitest';

interface Tries {
  readonly runs: number;
  /** Absent: another one each time. */
  readonly seed?: number;
}

interface Tried {
  /** Texts or values that were read. */
  readonly made: number;
  /** The smallest one that broke a promise, and how to see it again; undefined: all held. */
  readonly failure: string | undefined;
}

/** Something of squad that reads what it did not write. */
export interface Reader {
  readonly name: string;
  /** Gives it so many malformed things to read. */
  check(tries: Tries): Promise<Tried>;
}

/** `holds` throws where the reader breaks its promise on this input. */
export function reader<T>(name: string, input: fc.Arbitrary<T>, holds: (value: T) => void | Promise<void>): Reader {
  return {
    name,
    check: async ({ runs, seed }) => {
      const property = fc.asyncProperty(input, async (value) => {
        await holds(value);
      });
      const details = await fc.check(property, { numRuns: runs, ...(seed === undefined ? {} : { seed }) });
      return { made: details.numRuns, failure: details.failed ? failureOf(details) : undefined };
    },
  };
}

function failureOf<T>(details: fc.RunDetails<T>): string {
  const { errorInstance } = details;
  const why = errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : String(errorInstance);
  return `${fc.defaultReportMessage(details)}\n${why}`;
}
