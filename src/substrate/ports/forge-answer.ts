import type { Refused } from './forge.ts';

/** The forge cannot answer now: a limit of it, or the network. It is asked again after `afterMs`; no person has to do anything. */
interface Later {
  readonly type: 'later';
  readonly why: string;
  readonly afterMs: number;
}

/** There is no such thing there, any more or for this login. */
interface Gone {
  readonly type: 'gone';
  readonly why: string;
}

/** Why a forge has not done what it was asked for. `refused`: a person has to do something. */
export type NotDone = Later | Gone | Refused;

export function isNotDone(answer: object): answer is NotDone {
  return 'type' in answer && ['later', 'gone', 'refused'].includes(String(answer.type));
}
