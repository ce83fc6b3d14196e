import type { Attempt } from '../../model/attempt.ts';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { RunLimits, RunRow } from '../ports/ledger.ts';
import { readEvents } from './events.ts';
import { MAIL_RULES } from './history-mail-rules.ts';
import { ATTEMPT_RULES, EVENT_RULES } from './history-rules.ts';
import type { Queries } from './query.ts';
import { listRuns } from './runs.ts';
import type { Store } from './store.ts';

/** Each rule is a query for sentences about the places that break it, which name the rows. */
const RULES = { ...EVENT_RULES, ...ATTEMPT_RULES, ...MAIL_RULES };

type Rule = keyof typeof RULES;

export const HISTORY_RULES = Object.keys(RULES) as Rule[];

export interface Violation {
  readonly rule: Rule;
  readonly message: string;
}

/** By run id, oldest first: the caps from an event on. */
export type CapsOfRuns = Readonly<Record<string, readonly { readonly since: number; readonly limits: RunLimits }[]>>;

/** Checks the promises of the `Ledger` port that show in the stored rows, without the code that keeps them. */
export function brokenRules(ledger: Pick<Queries, 'all'>, caps: CapsOfRuns = {}): Violation[] {
  return HISTORY_RULES.flatMap((rule) => {
    const sql = RULES[rule];
    const bound = sql.includes('@caps') ? [{ caps: JSON.stringify(caps) }] : [];
    const found = ledger.all<Readonly<Record<string, string>>>(sql, ...bound);
    return found.flatMap((row) => Object.values(row)).map((message) => ({ rule, message }));
  });
}

/** The input of the rules about plans. */
export interface LedgerHistory {
  readonly events: readonly LedgerEvent[];
  readonly runs: readonly RunRow[];
  readonly attempts: readonly (Pick<Attempt, 'id' | 'runId' | 'taskId' | 'kind'> & { readonly claimSeq: number })[];
}

export function readHistory(store: Store): LedgerHistory {
  const attempts =
    'SELECT id, run_id AS runId, task_id AS taskId, kind, claim_seq AS claimSeq FROM attempt ORDER BY claim_seq';
  return { events: readEvents(store, {}), runs: listRuns(store), attempts: store.all(attempts) };
}
