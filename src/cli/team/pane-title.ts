import { ageOf } from '../../text/age.ts';
import { plainLine } from '../../text/plain-text.ts';

/** What waits for whoever sits at a pane. */
export interface Waiting {
  /** Questions to this member that have no answer. */
  readonly asks: number;
  readonly unread: number;
  /** For how long the oldest message lies unread. */
  readonly oldestMs: number;
}

/** What the terminal shows as the name of a pane. */
export function paneTitle(name: string, { asks, unread, oldestMs }: Waiting): string {
  return [
    plainLine(name, 120),
    ...(asks === 0 ? [] : [`${asks} to answer`]),
    ...(unread === 0 ? [] : [`${unread} unread, oldest ${ageOf(oldestMs)}`]),
  ].join(' · ');
}

/** The name of one member's window, by `team.windowName` of the settings. */
export function windowNameOf(format: string, session: string, role: string): string {
  return plainLine(format.replaceAll('{session}', session).replaceAll('{role}', role), 120);
}
