import { z } from 'zod';

/** One command of `setup`, `verify` or a criterion that ran on the base commit. */
const baselineCommandSchema = z.object({
  /** `criterion`: its command cannot run there. One that can is no part of this. */
  purpose: z.enum(['setup', 'verify', 'criterion']),
  run: z.string(),
  passed: z.boolean(),
  /** It failed before it could check anything: there is no such script or program. */
  cannotRun: z.boolean(),
  /** The program itself is not on this machine: no work of the run can make it. Absent: that is not known. */
  noProgram: z.literal(true).optional(),
  /** How it failed, such as `exited with 1`; empty if it passed. */
  how: z.string(),
  /** The line of its output that says most; empty if it passed. */
  words: z.string(),
  /** The end of its output, shortened; of `setup`, which command failed, how, and where its output is. Empty if it passed. */
  output: z.string(),
});
export type BaselineCommand = z.infer<typeof baselineCommandSchema>;

/** Commands of criteria that the engine tries on the base commit, because they may not be able to run there. */
export const doubtfulSchema = z.object({
  commands: z.array(z.string()),
  /** The file in which a person can correct them; absent: there is none. */
  file: z.string().optional(),
});
export type Doubtful = z.infer<typeof doubtfulSchema>;

/** Results of `setup` and `verify` on the commit that the run begins from, before any work. After a failed setup, nothing else ran. */
export const baselineFactsSchema = z.object({
  commit: z.string(),
  commands: z.array(baselineCommandSchema),
  /** Why nothing could be found out; absent: something was. */
  problem: z.string().optional(),
});
export type BaselineFacts = z.infer<typeof baselineFactsSchema>;

/** The engine's check of the base commit. `off`: there is nothing to run there, or no one wants it. */
export interface Baseline {
  readonly at: 'off' | 'due' | 'known';
  /** Counts the current try too. Another try runs the same commands again. */
  readonly tries: number;
  /** null: not known yet. */
  readonly facts: BaselineFacts | null;
  /** The question that holds the run until its answer; null: none was asked. */
  readonly question: string | null;
  /** Commands of `verify` and of criteria that this person left out of the run. */
  readonly without: { readonly by: string; readonly commands: readonly string[] } | null;
}
