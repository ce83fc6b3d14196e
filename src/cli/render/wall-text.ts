import type { RunEvent } from '../../model/run-event.ts';
import { localTime } from '../../text/time.ts';

type AccountChanged = Extract<RunEvent, { type: 'account-changed' }>;

/** What an account is, in the words of every view. */
export function accountText({ state, until, why, standIn, at }: Omit<AccountChanged, 'type' | 'runId'>): string {
  const instead = standIn === undefined ? '' : `; ${standIn} stands in`;
  switch (state) {
    case 'works':
      return 'works again';
    case 'limited':
      return `usage limit until ${localTime(until ?? at, at)}${instead}`;
    case 'locked-out':
      return `cannot be used${why === undefined ? '' : ` (${why})`}${instead}`;
    default:
      return state satisfies never;
  }
}
