import { standInFor } from '../rules/stand-ins.ts';
import type { Board } from '../model/plan/board.ts';
import type { RunEvent } from '../model/run-event.ts';
import { defined } from '../text/defined.ts';
import type { Base } from './event-base.ts';

/** How accounts stand after a change, as far as that is new. */
export function accountEvents(
  base: Base,
  before: Board,
  after: Board,
): Extract<RunEvent, { type: 'account-changed' }>[] {
  if (before.accounts === after.accounts && before.lockedOut === after.lockedOut) return [];
  const names = [before, after].flatMap(({ accounts, lockedOut }) => [
    ...accounts.keys(),
    ...[...lockedOut.values()].map(({ account }) => account),
  ]);
  return [...new Set(names)].flatMap((account): ReturnType<typeof accountEvents> => {
    const old = accountState(before, account);
    const now = accountState(after, account);
    if (old.state === now.state && old.until === now.until) return [];
    // A person has helped, or says so: one turn finds out.
    if (old.state === 'locked-out' && now.until !== undefined && now.until <= after.now) return [];
    const { state, until, why } = now;
    const standIn = state === 'works' ? undefined : standInFor(after, { name: '', account });
    return [{ type: 'account-changed', ...base, account, state, ...defined({ until, why, standIn }) }];
  });
}

function accountState({ accounts, lockedOut }: Board, account: string) {
  const lock = lockedOut.get(account);
  if (lock !== undefined) return { state: 'locked-out', why: lock.kind, until: undefined } as const;
  const limited = accounts.get(account);
  return limited === undefined
    ? ({ state: 'works', why: undefined, until: undefined } as const)
    : ({ state: 'limited', why: undefined, until: limited.until } as const);
}
