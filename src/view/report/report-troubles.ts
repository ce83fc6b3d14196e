import { silentTasks } from '../../rules/silent-judges.ts';
import { accountText } from '../../model/wall-text.ts';
import type { RunHistory, RunReading } from '../read-run.ts';
import { utcTime } from '../../text/time.ts';
import { code, cut, ownWords, tableSection, type Section, type Text } from './document.ts';

const MOST_WHY = 300;

/** The judges that gave no verdict, why, and what followed. */
export function silentJudgesSection({ board }: Pick<RunReading, 'board'>): Section | undefined {
  const skipped = silentTasks(board);
  const rows = [...board.tasks.values()].flatMap(({ task, work }): Text[][] => {
    const row = (round: number, role: string, agent: string, then: Text, why: string): Text[] => [
      code(task.id),
      ownWords(String(round)),
      role,
      agent,
      then,
      cut(why, MOST_WHY),
    ];
    const { phase } = work;
    const place = skipped.get(task.id);
    const agent = work.author.thread?.agent ?? '';
    const why = phase.at === 'ended' ? phase.why : '';
    return [
      ...(work.replaced ?? []).map((one) => row(one.round, one.role, one.agent, `${one.by} was asked`, one.why)),
      ...work.rounds.flatMap(({ round, silent = [] }) =>
        silent.map((one) => row(round, one.role, one.agent, ownWords(SKIPPED), one.why)),
      ),
      ...(place === undefined ? [] : [row(place.pass, place.role, agent, ownWords(SKIPPED), why)]),
    ];
  });
  return tableSection('Judges without a verdict', ['task', 'round', 'role', 'agent', 'then', 'why'], rows);
}

const SKIPPED = 'decided without it';

/** The work that was done on another runtime than its agent's own. */
export function standInsSection({ board }: Pick<RunReading, 'board'>): Section | undefined {
  const rows = [...board.tasks.values()].flatMap(({ task, work }) =>
    work.standIns.map(({ agent, account, insteadOf, review, isAuthors }): Text[] => [
      code(task.id),
      agent,
      ownWords(review === null ? 'author' : `review as ${review}`),
      account,
      insteadOf,
      ownWords(isAuthors === true ? "reviewed on the author's own runtime" : ''),
    ]),
  );
  return tableSection('Stand-ins', ['task', 'agent', 'work', 'worked on', 'in place of', 'note'], rows);
}

/** Stalls of turns and limits of accounts, with what ended them, in order of time. */
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
