import { describe, expect, it } from 'vitest';
import type { Board } from '../../src/model/plan/board.ts';
import type { PlanNews } from '../../src/model/plan/event.ts';
import type { Intervention } from '../../src/model/plan/intervention.ts';
import type { Json } from '../../src/text/json.ts';
import { createDeliveryPlaybook } from '../../src/playbooks/delivery/index.ts';
import { withDeliveryList } from '../support/delivery-list.ts';
import { factsOf, integratedTasks, member, rejects, simulate, type Played, type Script } from './simulator.ts';

const PEOPLE = [member('ada', 'planner'), member('bob', 'builder', { commits: false }), member('rex', 'reviewer')];
const COMMITTER = member('com', 'committer');
const TESTER = member('tes', 'tester');
const piece = (id: string, needs: string[] = []): Json => ({
  ...{ id, title: `Do ${id}`, role: 'builder', needs, brief: `Build ${id}.`, acceptance: ['it works'] },
});
const PLAN: Json = { summary: '', tasks: [piece('a'), piece('b', ['a'])] };

/** When a person says that a is skipped, by what the board shows. */
const MOMENTS: Readonly<Record<string, (board: Board) => boolean>> = {
  'before it starts': ({ tasks }) => tasks.has('a'),
  'while its author works': ({ tasks }) => tasks.get('a')?.work.author.state.at === 'live',
  'while it is reviewed': ({ tasks }) => tasks.get('a')?.work.phase.at === 'reviewing',
  'once it was rejected': ({ tasks }) => (tasks.get('a')?.work.rounds.length ?? 0) > 0,
  'while it is reviewed again': ({ tasks }) =>
    (tasks.get('a')?.work.rounds.length ?? 0) > 0 && tasks.get('a')?.work.phase.at === 'reviewing',
};
const TEAMS = {
  'a committer': [...PEOPLE, COMMITTER],
  'a tester': [...PEOPLE, TESTER],
  both: [...PEOPLE, COMMITTER, TESTER],
};

function play(team: (typeof TEAMS)[keyof typeof TEAMS], outside: (board: Board) => PlanNews | undefined): Played {
  const playbook = createDeliveryPlaybook();
  const facts = withDeliveryList(factsOf(team));
  const parsed = playbook.parse(facts);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  const turn: Script['turn'] = ({ task, review }, board) => {
    if (task === 'plan') return { output: PLAN };
    if (task.endsWith('-test')) return { output: { passed: true, summary: '', failures: [] } };
    return task === 'a' && review !== null && board.tasks.get('a')?.work.rounds.length === 0
      ? rejects('no')
      : undefined;
  };
  return simulate({ facts, playbook, plan: playbook.plan(parsed.input), script: { turn, outside } });
}

const ends = ({ board }: Played): Record<string, string> =>
  Object.fromEntries(
    [...board.tasks.values()].map(({ task, work: { phase } }) => [task.id, phase.at === 'ended' ? phase.as : phase.at]),
  );
const says = (intervention: Intervention): PlanNews => ({ type: 'intervention', intervention, by: 'dana' });
const skips = says({ verb: 'skip', task: 'a', why: 'no' });
const retries = says({ verb: 'retry', task: 'a', fresh: false });

const cases = Object.keys(TEAMS).flatMap((team) =>
  Object.keys(MOMENTS).map((moment) => [team, moment] as [keyof typeof TEAMS, string]),
);

describe('a piece that a person skips', () => {
  it.each(cases)('with %s, %s: no one commits or tests it, and the rest continues', (team, moment) => {
    let said = false;
    const played = play(TEAMS[team], (board) => {
      if (said || MOMENTS[moment]?.(board) !== true) return undefined;
      said = true;
      return skips;
    });
    expect(said).toBe(true);
    expect(played.end).toMatchObject({ outcome: 'done' });
    const rest = Object.entries(ends(played)).filter(([id]) => id.startsWith('a'));
    expect(rest.map(([, as]) => as)).toEqual(rest.map(() => 'skipped'));
    expect(integratedTasks(played)).toEqual(team === 'a tester' ? ['b'] : ['b-commit']);
    expect(played.turns.filter(({ task }) => task.startsWith('a-'))).toEqual([]);
  });

  it.each(cases)('with %s, %s: once it is tried again, all of it is done', (team, moment) => {
    const left: PlanNews[] = [skips, retries];
    const played = play(TEAMS[team], (board) => {
      const [first] = left;
      const phase = board.tasks.get('a')?.work.phase;
      const isDue = first === skips ? MOMENTS[moment]?.(board) : phase?.at === 'ended' && phase.as === 'skipped';
      return isDue === true ? left.shift() : undefined;
    });
    expect(left).toEqual([]);
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(new Set(Object.values(ends(played)))).toEqual(new Set(['done']));
    const delivered = integratedTasks(played);
    expect(delivered.filter((id) => id.startsWith('a'))).toHaveLength(1);
  });

  it('while its work is committed: that commit is not delivered', () => {
    let said = false;
    const played = play(TEAMS.both, ({ tasks }) => {
      if (said || tasks.get('a-commit')?.work.author.state.at !== 'live') return undefined;
      said = true;
      return says({ verb: 'skip', task: 'a-commit', why: 'no' });
    });
    expect(ends(played)).toMatchObject({ a: 'done', 'a-commit': 'skipped', 'a-test': 'skipped', 'b-test': 'done' });
    expect(integratedTasks(played)).toEqual(['b-commit']);
  });
});
