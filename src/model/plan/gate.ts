import { z } from 'zod';
import { checkerChangeSchema } from './checker.ts';
import { judgeEvidenceSchema, lookUpsSchema } from './judge-evidence.ts';

/** Tracked files that a command changed while it ran, the first ones; `more`: how many further ones there are. */
const changedByCheckSchema = z.object({ paths: z.array(z.string()), more: z.number().int() });
export type ChangedByCheck = z.infer<typeof changedByCheckSchema>;
export const checkChangesSchema = changedByCheckSchema.extend({ run: z.string() });
export type CheckChanges = z.infer<typeof checkChangesSchema>;

/** The result of one command on a commit. */
export const checkFactsSchema = z.object({
  run: z.string(),
  passed: z.boolean(),
  output: z.string(),
  /** It passed, after it had failed on the same commit. Absent: it did not. */
  flaky: z.literal(true).optional(),
  /** It failed before it could check anything, such as for want of its program: the line that says so. Absent: it could run. */
  cannotRun: z.string().optional(),
  /** Absent: it changed none. */
  changed: changedByCheckSchema.optional(),
});
export type CheckFacts = z.infer<typeof checkFactsSchema>;

/** Notes for people on checks besides their results, one for each command. */
export interface CheckNotes {
  /** Commands that failed and passed on the same commit. */
  readonly flaky: readonly string[];
  /** Tracked files that commands changed while they ran. */
  readonly changed: readonly CheckChanges[];
}

const commandFactsSchema = checkFactsSchema.extend({ purpose: z.enum(['setup', 'verify', 'criterion']) });

/** The engine's findings on the run branch before it lets a run end, all of them about `head`. */
export const gateFactsSchema = z.object({
  /** The commit that the ledger had delivered last when the check began. */
  expected: z.string(),
  /** The run branch's head; null: the branch is gone. */
  head: z.string().nullable(),
  /** Delivered tasks whose commit is not in `head`. */
  missing: z.array(z.string()),
  /** The commands that ran on `head`, in order. After a failed setup or verify command, no other of its kind runs. */
  commands: z.array(commandFactsSchema),
  /** The findings on the evidence that verdicts on `head` name. Absent: nothing was looked up. */
  looked: lookUpsSchema.optional(),
  /** Changes by the work to files that check it. Absent: none. */
  checkers: z.array(checkerChangeSchema).optional(),
  /** Results of these commands with the checker files of the base commit. Absent: they did not run that way. */
  atBase: z.array(commandFactsSchema).optional(),
});
export type GateFacts = z.infer<typeof gateFactsSchema>;

/** The command of a criterion cannot run, so it says nothing of the work: no author is charged, and the criterion stays unchecked. */
export function isUnchecked({ purpose, cannotRun }: GateFacts['commands'][number]): boolean {
  return purpose === 'criterion' && cannotRun !== undefined;
}

/** A judge's opinion on one criterion. */
export const verdictSchema = z.object({
  /** Its number in the objective, from 0. */
  criterion: z.number().int(),
  met: z.boolean(),
  /** Without it, nothing is met. */
  evidence: judgeEvidenceSchema.nullable().default(null),
  why: z.string(),
});
export type Verdict = z.infer<typeof verdictSchema>;

/** A verdict as a judge gives it. No field is optional, because strict structured output requires all. */
export const judgeWordSchema = z.object({
  criterion: z.string().describe('its label, such as C1'),
  met: z.boolean().describe('true only if you saw it'),
  evidence: judgeEvidenceSchema.nullable().describe('what shows it; squad looks it up. null only if it is not met'),
  why: z.string().describe('one sentence; if it is not met, what is missing'),
});

/** The judge's answer about criteria without a command. */
export const judgementAnswerSchema = z.object({
  verdicts: z.array(judgeWordSchema).describe('one for each criterion that you can decide'),
});

/** How judges name a criterion of this number. */
export function criterionLabel(index: number): string {
  return `C${index + 1}`;
}

/** Words on labels that name no criterion are left out, and of each criterion one word stays: that it is not met, before that it is. */
export function verdictsIn(words: readonly z.infer<typeof judgeWordSchema>[]): Verdict[] {
  const found = new Map<number, Verdict>();
  for (const { criterion: label, ...word } of words) {
    const criterion = /^C([1-9]\d{0,5})$/.test(label) ? Number(label.slice(1)) - 1 : undefined;
    if (criterion === undefined) continue;
    const before = found.get(criterion);
    if (before === undefined || (before.met && !word.met)) found.set(criterion, { criterion, ...word });
  }
  return [...found.values()];
}

/** The name of the schema above. */
export const JUDGEMENT = 'judgement';

/** A judge's verdicts about one commit. `verdicts` is empty if the judge gave none. */
interface Judgement {
  readonly task: string;
  readonly commit: string;
  readonly by: string | null;
  readonly verdicts: readonly Verdict[];
}

/** A verdict that a playbook recorded, about one commit. `task`: whose agent gave it. */
export interface RecordedVerdict {
  readonly task: string;
  readonly by: string;
  readonly commit: string;
  readonly verdict: Verdict;
}

/**
 * The check of the run branch before a run ends. `idle`: no end is proposed, or the last proposal was refused. `judging`: the
 * task `judge` is running.
 */
export interface Gate {
  readonly at: 'idle' | 'checking' | 'judging';
  /** The reason in the proposal to end the run as done. */
  readonly why: string;
  /** Remarks in the proposal for the final word of the run; absent: none. */
  readonly remarks?: readonly string[];
  /** Why the engine refused the last proposal; absent: it refused none, or found nothing since. */
  readonly problems?: { readonly at: number; readonly texts: readonly string[] };
  /** Proposals that the engine refused. */
  readonly refused: number;
  /** null: nothing was checked yet, or more work made the check void. */
  readonly facts: GateFacts | null;
  /** Notes from all checks of the run branch. Absent: none. */
  readonly noted?: CheckNotes;
  readonly judgement: Judgement | null;
  readonly judge: string | null;
  /** Verdicts of judges whom a playbook asked. They count at the commit that they are about, also if more work was planned. */
  readonly recorded: readonly RecordedVerdict[];
}

export const CLOSED_GATE: Gate = {
  at: 'idle',
  why: '',
  refused: 0,
  facts: null,
  judgement: null,
  judge: null,
  recorded: [],
};

/**
 * `head`: the commit delivered last, else the run's base. `foreign`: a stranger moved (`head` null: deleted) the branch, and `way` is the
 * operator's choice. `checkedOut`: it cannot move while a worktree has it.
 */
export interface RunBranch {
  readonly head: string;
  readonly foreign: {
    readonly head: string | null;
    readonly question: string;
    readonly way: 'restore' | 'take-in' | null;
  } | null;
  readonly checkedOut: { readonly question: string } | null;
}
