import { ageOf } from '../../text/time.ts';
import { plainLine } from '../../text/plain-text.ts';

/** What a member has to read and answer. */
export interface Waiting {
  /** Questions without an answer. */
  readonly asks: number;
  readonly unread: number;
  /** Age of the oldest unread message. */
  readonly oldestMs: number;
}

/** The title of a pane in the terminal. */
export function paneTitle(name: string, { asks, unread, oldestMs }: Waiting): string {
  return [
    plainLine(name, 120),
    ...(asks === 0 ? [] : [`${asks} to answer`]),
    ...(unread === 0 ? [] : [`${unread} unread, oldest ${ageOf(oldestMs)}`]),
  ].join(' · ');
}

/** The name of one member's window, from `team.windowName` in the settings. */
export function windowNameOf(format: string, session: string, role: string): string {
  return plainLine(format.replaceAll('{session}', session).replaceAll('{role}', role), 120);
}
