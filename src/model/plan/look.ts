import { asObject, objectsIn, type Json } from '../../text/json.ts';

/** Whether a judge used tools to see the work. `unknown`: its runtime does not report its tools. */
export const LOOKS = ['some', 'none', 'unknown'] as const;
export type Look = (typeof LOOKS)[number];

/** Combines the turns of one session: one look is enough. */
export function lookOf(before: Look | undefined, turn: Look | undefined): Look | undefined {
  if (before === undefined || turn === undefined) return turn ?? before;
  if (before === 'some' || turn === 'some') return 'some';
  return before === 'unknown' || turn === 'unknown' ? 'unknown' : 'none';
}

/** The answer lets work pass: it approves, or says that a criterion is met. */
export function isApproval(output: Json | undefined): boolean {
  const { approved, verdicts } = asObject(output);
  return approved === true || objectsIn(verdicts).some(({ met }) => met === true);
}

/** Appended to “approved”. */
export function lookText(look: Look | undefined): string {
  if (look === 'none') return ' without looking';
  return look === 'unknown' ? ' (not known whether it looked)' : '';
}
