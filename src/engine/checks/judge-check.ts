import type { TurnResult } from '../../model/turn-result.ts';

/** `output`: the last 4 KiB of what the command printed, or why it did not run. Never blank. */
export type CheckAnswer =
  | { readonly passed: true; readonly output: string }
  | {
      readonly passed: false;
      readonly why: 'exit' | 'wall' | 'flood';
      /** null: a signal ended it, or squad at its limit. */
      readonly code: number | null;
      readonly output: string;
    }
  /** The command gave no result: it was cancelled, lost too often, or could not start. */
  | { readonly passed: false; readonly why: 'not-run'; readonly output: string };

export type Judgement =
  | { readonly type: 'answer'; readonly answer: CheckAnswer }
  /** The try gave no result. `again`: another try may give one. */
  | { readonly type: 'nothing'; readonly why: string; readonly again: boolean };

/** Derives the answer of a check from one settled try. Pure. */
export function judgeCheck({ outcome, failure, exit, text }: TurnResult): Judgement {
  if (outcome === 'completed') return { type: 'answer', answer: { passed: true, output: text } };
  const failed = (why: 'exit' | 'wall' | 'flood', code: number | null): Judgement => ({
    type: 'answer',
    answer: { passed: false, why, code, output: text },
  });
  const why = failure?.message ?? outcome;
  switch (failure?.kind) {
    case 'bad-output':
      // Without an exit status, the result could not be stored.
      return exit === undefined ? { type: 'nothing', why, again: false } : failed('exit', exit.code);
    case 'wall-timeout':
      return failed('wall', null);
    case 'output-flood':
      return failed('flood', null);
    case 'lost':
    case 'never-started':
    case 'crashed':
    case 'protocol':
      return { type: 'nothing', why, again: true };
    default:
      return { type: 'nothing', why, again: false };
  }
}
