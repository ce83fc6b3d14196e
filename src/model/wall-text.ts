import { localTime } from '../text/time.ts';
import type { RunEvent } from './run-event.ts';

type AccountStands = Omit<Extract<RunEvent, { type: 'account-changed' }>, 'type' | 'runId' | 'account'>;

/** How an account stands, in the words of every view. `time`: how it names a moment. */
export function accountText({ state, until, why, standIn, at }: AccountStands, time = localTime): string {
  const instead = standIn === undefined ? '' : `; ${standIn} stands in`;
  switch (state) {
    case 'works':
      return 'works again';
    case 'limited':
      return `usage limit until ${time(until ?? at, at)}${instead}`;
    case 'locked-out':
      return `cannot be used${why === undefined ? '' : ` (${why})`}${instead}`;
    default:
      return state satisfies never;
  }
}

export function stallText(ms: number): string {
  return `no tool for ${seconds(ms)}`;
}

/** `ms`: from the turn's last sign before the stall to its end; null: the engine that knew has ended. */
export function clearedText(by: 'tool' | 'sign', ms: number | null): string {
  const what = by === 'tool' ? 'its tool came' : 'a sign of life came';
  return ms === null ? what : `${what} after ${seconds(ms)}`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
