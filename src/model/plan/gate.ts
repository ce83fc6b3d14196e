import { z } from 'zod';

/** What the engine found on the run branch before it lets a run end. Everything in it is about `head`. */
export const gateFactsSchema = z.object({
  /** What the ledger had delivered last when the engine began to look. */
  expected: z.string(),
  /** The run branch's head; null: the branch is gone. */
  head: z.string().nullable(),
  /** Delivered tasks whose commit is not in `head`. */
  missing: z.array(z.string()),
  /** What was run on `head`, in order. A failed setup or verify command is the last of its kind. */
  commands: z.array(
    z.object({
      purpose: z.enum(['setup', 'verify', 'criterion']),
      run: z.string(),
      passed: z.boolean(),
      output: z.string(),
    }),
  ),
  /** Of the files that the judgement of `head` names, those that exist in it. */
  files: z.array(z.string()),
});
export type GateFacts = z.infer<typeof gateFactsSchema>;

/** The answer of the judge of criteria without a command. No field is optional: strict structured output requires all. */
export const judgementAnswerSchema = z.object({
  verdicts: z.array(
    z.object({
      /** Its number in the list of the task, from 0. */
      criterion: z.number().int(),
      met: z.boolean(),
      /** Where it shows; null only if it is not met. */
      file: z.string().nullable(),
      line: z.number().int().nullable(),
      why: z.string(),
    }),
  ),
});
export type JudgementAnswer = z.infer<typeof judgementAnswerSchema>;
export type Verdict = JudgementAnswer['verdicts'][number];

/** Name of the schema above for tasks. */
export const JUDGEMENT = 'judgement';

/** One judge's verdicts on the criteria without a command, about one commit. `verdicts` is empty if the judge gave none. */
export interface Judgement {
  readonly commit: string;
  readonly by: string | null;
  readonly verdicts: readonly Verdict[];
}

/**
 * How far the check before the end of a run is. `idle`: no end is proposed, or the last proposal was refused. `checking`: the
 * engine looks at the run branch. `judging`: the task `judge` is running.
 */
export interface Gate {
  readonly at: 'idle' | 'checking' | 'judging';
  /** Why the run is to end as done, as it was proposed. */
  readonly why: string;
  /** Proposals that the engine refused. */
  readonly refused: number;
  /** null: nothing was looked at, or it was about a state that has passed. */
  readonly facts: GateFacts | null;
  readonly judgement: Judgement | null;
  readonly judge: string | null;
}

export const CLOSED_GATE: Gate = { at: 'idle', why: '', refused: 0, facts: null, judgement: null, judge: null };

/**
 * The run branch as the ledger knows it. `head`: what was delivered last, or the run's base. `foreign`: the branch was found
 * somewhere else (null: gone). `way`: what a person wants done about that; null: not answered yet. `held`: it is checked out
 * and cannot be moved. The questions about both are named, so that their answers are known.
 */
export interface RunBranch {
  readonly head: string;
  readonly foreign: {
    readonly head: string | null;
    readonly question: string;
    readonly way: 'restore' | 'take-in' | null;
  } | null;
  readonly held: { readonly question: string } | null;
}
