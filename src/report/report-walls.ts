import { accountText } from '../model/wall-text.ts';
import type { RunHistory } from '../read-model/read-run.ts';
import { utcTime } from '../text/time.ts';
import { code, ownWords, tableSection, type Section, type Text } from './document.ts';

/** What turns and accounts were waited for, and what came, in the order of time. */
export function wallsSection({ walls, accounts }: Pick<RunHistory, 'walls' | 'accounts'>): Section | undefined {
  const rows = [
    ...walls.flatMap(({ attempt, why, at, cleared }) => [
      { at, who: code(attempt), what: why },
      ...(cleared === undefined ? [] : [{ at: cleared.at, who: code(attempt), what: cleared.why }]),
    ]),
    ...accounts.map((event) => ({ at: event.at, who: event.account, what: accountText(event, utcTime) })),
  ].toSorted((a, b) => a.at - b.at);
  return tableSection(
    'Stalls and usage limits',
    ['when', 'who', 'what'],
    rows.map(({ at, who, what }): Text[] => [ownWords(utcTime(at)), who, what]),
  );
}
