import { code, cut, ownWords, tableSection, type Section, type Text } from './document.ts';
import { silentTasks } from '../graph/decisions/silent-judges.ts';
import type { RunReading } from '../read-model/read-run.ts';

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
