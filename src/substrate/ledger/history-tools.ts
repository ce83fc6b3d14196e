import { isJsonObject } from '../../text/json.ts';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { LedgerHistory } from './history.ts';

export const HISTORY_RULES = [
  'seq-gap',
  'cause-wrong',
  'epoch-backwards',
  'row-without-event',
  'settled-not-once',
  'settled-before-claim',
  'session-overlap',
  'attempt-numbers',
  'applied-twice',
  'cap-exceeded',
  'usage-without-settlement',
  'late-applied',
  'observed-twice',
  'timer-wrong',
  'run-differs',
  'settlement-differs',
  'mail-seq-gap',
  'mail-undelivered',
  'mail-ack-wrong',
  'mail-held-wrong',
  'mail-ack-order',
] as const;

export interface Violation {
  readonly rule: (typeof HISTORY_RULES)[number];
  /** Names the rows that break the rule. */
  readonly message: string;
}

export function ofType(history: LedgerHistory, type: string): LedgerEvent[] {
  return history.events.filter((event) => event.type === type);
}

export function attemptOf(event: LedgerEvent): string | undefined {
  if (!isJsonObject(event.data)) return undefined;
  const id = event.data['attemptId'];
  return typeof id === 'string' ? id : undefined;
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

export function violation(rule: Violation['rule'], message: string): Violation {
  return { rule, message };
}
