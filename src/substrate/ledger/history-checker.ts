import { ATTEMPT_RULES } from './history-attempt-rules.ts';
import { EVENT_RULES } from './history-event-rules.ts';
import { MAIL_RULES } from './history-mail-rules.ts';
import type { LedgerHistory } from './history.ts';

/** Each rule returns one sentence for each place that breaks it, which names the rows. */
const RULES = { ...EVENT_RULES, ...ATTEMPT_RULES, ...MAIL_RULES };
type Rule = keyof typeof RULES;
export const HISTORY_RULES = Object.keys(RULES) as Rule[];

export interface Violation {
  readonly rule: Rule;
  readonly message: string;
}

/** Checks the promises of the `Ledger` port that show in the stored rows, without the code that keeps them. */
export function checkHistory(history: LedgerHistory): Violation[] {
  return HISTORY_RULES.flatMap((rule) => RULES[rule](history).map((message) => ({ rule, message })));
}
