import type { View } from '../../model/plan.ts';
import { failureReasons } from '../shared/tasks.ts';
import type { Council } from './council.ts';
import { minutesTexts } from './minutes-texts.ts';
import { hasSpoken, REVIEW, sayingsTo, verifyOf, type Asking } from './sayings.ts';

/** The record that says why the council ends before any work is assigned. */
export const GIVEN_UP = 'given-up';

/** Tasks without work to deliver: their failure only means that a member said nothing. */
const TALK = /^(?:review-\d+|verify-\d+-\d+|close|answer-.*)$/;

/** How the council went, for MAIN and for people. It names who was silent, because silence is no approval. */
export function outcomeOf(
  view: View,
  council: Council,
  givenUp: unknown = view.record('council', GIVEN_UP),
): { readonly outcome: 'done' | 'failed'; readonly lines: readonly string[] } {
  const texts = minutesTexts(view);
  const tasks = view.tasks().filter(({ id }) => !TALK.test(id));
  const failed = tasks.filter(({ status }) => status === 'failed' || status === 'cancelled');
  const delivered = tasks.filter(({ status, commit }) => status === 'done' && commit !== undefined);
  const outcome = failed.length === 0 && givenUp === undefined ? 'done' : 'failed';
  return {
    outcome,
    lines: [
      ...(typeof givenUp === 'string' ? [givenUp] : []),
      ...failureReasons(failed),
      ...(outcome === 'done' ? [texts.allDelivered] : []),
      ...(delivered.length === 0 ? [] : [texts.delivered(delivered.map(({ id }) => id).join(', '))]),
      ...askingsOf(view).flatMap((asking) => unheard(view, council, asking)),
    ],
  };
}

/** Members that did not answer the last review or verification. */
export function silentIn(view: View, council: Council): string[] {
  const last = askingsOf(view).at(-1) ?? REVIEW;
  return sayingsTo(view, council, last)
    .filter((saying) => !hasSpoken(saying))
    .map(({ seat }) => seat.address);
}

export function askingsOf(view: View): Asking[] {
  const rounds = view.mail({ action: 'verify' }).filter(({ key }) => key !== undefined);
  return [REVIEW, ...rounds.map((_mail, index) => verifyOf(index + 1))];
}

function unheard(view: View, council: Council, asking: Asking): string[] {
  const sayings = sayingsTo(view, council, asking);
  const missing = sayings.filter((saying) => !hasSpoken(saying));
  if (missing.length === 0) return [];
  const texts = minutesTexts(view);
  const names = missing.map(({ seat, how }) => texts.seat(seat.address, texts.how[how] ?? how)).join(', ');
  return [texts.unheard(asking.key, missing.length === sayings.length, names)];
}
