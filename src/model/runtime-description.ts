import { z } from 'zod';
import { defined } from '../text/defined.ts';

/** What squad has to know of a runtime besides its name. Absent is the usual. */
export interface RuntimeDescription {
  /** The command with which a person logs in. */
  readonly login?: string;
  /** false: it never says what a turn cost, so a limit in USD does not see its turns. */
  readonly reportsCost?: boolean;
  /** It works only where it is named: squad makes no roster of it and does not suggest it, and doctor does not check it. */
  readonly onlyByName?: boolean;
  /**
   * Keys of its `config` that name files, each with what to do if there is no such file. A relative path starts at the root of
   * the repository.
   */
  readonly configFiles?: Readonly<Record<string, string>>;
  /** How the variables begin with which it reaches its own model: `squad.yaml` may let them through without consent. */
  readonly variables?: readonly string[];
}

/** By the names of runtimes. */
export type DescribedRuntimes = Readonly<Record<string, RuntimeDescription>>;

/** What a run keeps of the descriptions: a process that shows it may not have its runtimes. */
export const describedRuntimesSchema: z.ZodType<DescribedRuntimes> = z.record(
  z.string(),
  z
    .object({
      login: z.string().optional(),
      reportsCost: z.boolean().optional(),
      onlyByName: z.boolean().optional(),
    })
    .transform((description): RuntimeDescription => defined(description)),
);

/** The runtimes among these that do not say what a turn cost. */
export function withoutCost(described: DescribedRuntimes, runtimes: readonly string[]): string[] {
  return [...new Set(runtimes)].filter((name) => described[name]?.reportsCost === false);
}
