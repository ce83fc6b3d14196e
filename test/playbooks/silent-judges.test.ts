import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { concludeRun } from '../../src/rules/conclude.ts';
import type { Board, Member } from '../../src/model/plan/board.ts';
import type { Stage, StageList } from '../../src/playbooks/stages/stage-list.ts';
import { spread } from '../support/lane.ts';
import { failed, foldPlan, member, type Played, type Script, type Turn } from './simulator.ts';
import { APPROVED, play, stage } from './stages/support.ts';

type Settled = ReturnType<NonNullable<Script['turn']>>;

const WAYS: readonly NonNullable<Settled>[] = [failed('bad-output'), failed('stalled'), failed('bad-request')];
const BUILDER = member('bob', 'builder');

/** A stage whose work is reviewed, or one that is judged. */
function listOf(by: readonly string[], more: Partial<Stage> = {}, quorum: 'all' | 'any' = 'all'): StageList {
  return { stages: [stage('BUILD', { review: { id: 'BUILD_REVIEW', by, quorum }, ...more })] };
}

function judgedList(by: readonly string[], more: Partial<Stage> = {}): StageList {
  const judge = stage('VERDICT', {
    by,
    makes: { answer: 'verdict' },
    judges: { rounds: 2, else: { fix: 'BUILD' } },
    ...more,
  });
  return { stages: [stage('BUILD'), judge] };
}

/** Plays the list, where these agents never give a verdict. */
function silent(
  list: StageList,
  roster: readonly Member[],
  mute: readonly string[],
  way: NonNullable<Settled>,
  choose?: Script['choose'],
) {
  const turn = ({ agent, review, task }: Turn): Settled => {
    if (review === null && !task.startsWith('verdict')) return undefined;
    if (mute.includes(agent)) return way;
    return review === null ? { output: APPROVED } : undefined;
  };
  return play(list, { roster, script: { turn, ...(choose === undefined ? {} : { choose }) } });
}

function headline(board: Board, strict = false): string {
  const { headline: line, exitCode } = concludeRun({ board, problem: undefined, strict });
  return `${exitCode}: ${line}`;
}

const votes = ({ turns }: Played): string[] =>
  turns.flatMap(({ review, agent, task }) => (review === null && !task.startsWith('verdict') ? [] : [agent]));

describe('a reviewer without a verdict', () => {
  const rex = member('rex', 'reviewer');
  const pam = member('pam', 'pm');

  it.each([
    ['another one of its role', [rex, member('rea', 'reviewer'), pam], ['reviewer'], 'rea'],
    ['one of a role that judges elsewhere', [rex, pam], ['reviewer'], 'pam'],
  ])('is replaced by %s', (_, agents, by, instead) => {
    const list = listOf(by);
    const other = stage('MORE', {
      review: { id: 'MORE_REVIEW', by: ['reviewer', 'pm'], quorum: 'any' },
      needs: ['BUILD'],
    });
    const played = silent({ stages: [...list.stages, other] }, [BUILDER, ...agents], ['rex'], WAYS[0]!);
    expect(votes(played).slice(0, 3)).toEqual(['rex', 'rex', instead]);
    expect(headline(played.board)).toContain(`${instead} was asked about build in place of rex, who gave no verdict`);
    expect(played.board.tasks.get('build')?.work.rounds).toMatchObject([
      { by: [{ role: 'reviewer', agent: instead }] },
    ]);
  });

  it('fails the stage, where nobody else may judge', () => {
    const played = silent(listOf(['reviewer', 'pm']), [BUILDER, rex, pam], ['rex'], WAYS[0]!);
    expect(headline(played.board)).toMatch(/^1: FAILED, .*no verdict from reviewer/);
  });

  it('is left out, where the stage goes on without it, and the last word says so', () => {
    const list = listOf(['reviewer', 'pm'], { onFail: 'skip' });
    const { board } = silent(list, [BUILDER, rex, pam], ['rex'], WAYS[0]!);
    expect(headline(board, true)).toMatch(/^1: DONE, .*build was approved without a verdict of reviewer/);
    expect(board.tasks.get('build')?.work.phase).toMatchObject({ as: 'done' });
  });

  it('is no approval, if it is the only one', () => {
    const { board } = silent(listOf(['reviewer'], { onFail: 'skip' }), [BUILDER, rex], ['rex'], WAYS[0]!);
    expect(headline(board)).toContain('BUILD failed, and the run continued without it');
    expect(board.branch.head).toBe('base');
  });

  it('is enough besides an approval of which one is enough', () => {
    const list = listOf(['reviewer', 'pm'], {}, 'any');
    const { board } = silent(list, [BUILDER, rex, pam], ['rex'], WAYS[2]!);
    expect(headline(board)).toContain('build was approved without a verdict of reviewer');
  });
});

describe('a judge without a verdict', () => {
  const rex = member('rex', 'reviewer');
  const pam = member('pam', 'pm');

  it('is replaced, in the same task', () => {
    const { board, turns } = silent(
      judgedList(['reviewer']),
      [BUILDER, rex, member('rea', 'reviewer')],
      ['rex'],
      WAYS[0]!,
    );
    expect(turns.map(({ agent }) => agent).slice(0, 4)).toEqual(['bob', 'rex', 'rex', 'rea']);
    expect(board.tasks.get('verdict')?.work.replaced).toEqual([
      { round: 1, role: 'reviewer', agent: 'rex', by: 'rea', why: 'bad-output: it was bad-output' },
    ]);
    expect(headline(board)).toMatch(/^0: DONE, .*rea was asked about verdict in place of rex/);
  });

  it('fails the stage, where nobody else may judge', () => {
    const { board } = silent(judgedList(['reviewer', 'pm']), [BUILDER, rex, pam], ['rex'], WAYS[0]!);
    expect(headline(board)).toMatch(/^1: FAILED, VERDICT: /);
  });

  it('is left out, where the stage goes on without it, and the last word says so', () => {
    const list = judgedList(['reviewer', 'pm'], { onFail: 'skip' });
    const { board } = silent(list, [BUILDER, rex, pam], ['rex'], WAYS[0]!);
    expect(headline(board, true)).toMatch(/^1: DONE, .*VERDICT was approved without a verdict of reviewer/);
    const alone = silent(judgedList(['reviewer'], { onFail: 'skip' }), [BUILDER, rex], ['rex'], WAYS[0]!);
    expect(headline(alone.board)).toContain('VERDICT failed, and the run continued without it');
  });

  it('leaves it to the others to reject, where the stage goes on without it', () => {
    const list = judgedList(['reviewer', 'pm'], { onFail: 'skip' });
    const turn = ({ agent, task }: Turn): Settled => {
      if (!task.startsWith('verdict')) return undefined;
      if (agent === 'rex') return WAYS[0];
      return { output: { approved: false, summary: 'no', findings: [], criteria: [] } };
    };
    const { board } = play(list, { roster: [BUILDER, rex, pam], script: { turn } });
    expect(board.tasks.has('fix-1')).toBe(true);
    expect(headline(board)).toMatch(/^1: FAILED, VERDICT was rejected in round 2 of 2/);
  });
});

describe('the judge of the whole without a verdict', () => {
  const [rex, rea] = [member('rex', 'reviewer'), member('rea', 'reviewer')];
  const list = { stages: [stage('BUILD')] };
  const judged = (roster: readonly Member[], mute: readonly string[]): Played => {
    const turn = ({ agent }: Turn): Settled => (mute.includes(agent) ? WAYS[0] : undefined);
    return play(list, { roster: [BUILDER, ...roster], script: { turn } });
  };

  it('is replaced, and no command runs again for that', () => {
    const { board, turns, entries } = judged([rex, rea], ['rex']);
    expect(turns.map(({ agent }) => agent)).toEqual(['bob', 'rex', 'rex', 'rea']);
    expect(headline(board)).toBe(
      '0: DONE, 1 of 2 criteria judged by rea, not run; rea was asked about judge in place of rex, who gave no verdict',
    );
    expect(entries.filter((one) => one.entry === 'event' && one.event.type === 'gate-checked')).toHaveLength(2);
    expect(foldPlan(board.facts, entries)).toEqual(board);
  });

  it('leaves the criteria unchecked, where nobody else may judge', () => {
    expect(headline(judged([rex], ['rex']).board, true)).toBe('1: DONE, 1 of 2 criteria not checked');
    expect(headline(judged([rex, rea], ['rex', 'rea']).board, true)).toContain('1 of 2 criteria not checked');
  });
});

const NAMES = ['bob', 'ben', 'rex', 'rea', 'pam', 'quin'];
const ROLE_OF: Readonly<Record<string, string>> = {
  bob: 'builder',
  ben: 'builder',
  rex: 'reviewer',
  rea: 'reviewer',
  pam: 'pm',
  quin: 'qa',
};

const drawn = fc.record({
  agents: fc.subarray(NAMES.slice(1), { minLength: 1 }),
  by: fc.subarray(['reviewer', 'pm', 'qa'], { minLength: 1 }),
  mute: fc.subarray(NAMES),
  way: fc.constantFrom(...WAYS),
  more: fc.constantFrom<Partial<Stage>>({}, { onFail: 'skip' }),
  quorum: fc.constantFrom<'all' | 'any'>('all', 'any'),
  isJudged: fc.boolean(),
  order: fc.array(fc.nat(9), { minLength: 1, maxLength: 20 }),
});

describe('any team, of whom any may be silent', () => {
  test.prop([drawn], { numRuns: spread(60, 2_000) })(
    'ends as its record says',
    ({ agents, by, mute, way, more, quorum, isJudged, order }) => {
      const roster = ['bob', ...agents].map((name) => member(name, ROLE_OF[name] ?? ''));
      const staffed = by.filter((role) => roster.some((one) => one.role === role));
      if (staffed.length === 0) return;
      const list = isJudged ? judgedList(by, more) : listOf(by, more, quorum);
      let step = 0;
      const played = silent(list, roster, mute, way, () => order[(step += 1) % order.length] ?? 0);
      const { board, turns, entries } = played;
      const work = board.tasks.get(isJudged ? 'verdict' : 'build')?.work;
      const judges = turns.filter(({ review, task }) => review !== null || task.startsWith('verdict'));
      const authors = new Set(
        turns.flatMap(({ agent, task, review }) => (review === null && task === 'build' ? [agent] : [])),
      );
      // No author judges, and nobody judges on two places or once more after it was replaced.
      for (const { agent } of judges) expect(authors.has(agent)).toBe(false);
      const replaced = [...board.tasks.values()].flatMap((one) => one.work.replaced ?? []);
      for (const { agent } of replaced) expect(mute).toContain(agent);
      expect(new Set(replaced.map(({ agent }) => agent)).size).toBe(replaced.length);
      expect(new Set(replaced.map((one) => one.by)).size).toBe(replaced.length);
      const last = work?.rounds.at(-1)?.by ?? [];
      expect(new Set(last.map(({ agent }) => agent)).size).toBe(last.length);
      // Who is silent costs two turns, unless nobody can take its place.
      for (const { agent } of replaced)
        expect(judges.filter((one) => one.agent === agent).length).toBeLessThanOrEqual(isJudged ? 3 : 2);
      // It ends as done with a vote of each place, or says which is missing.
      const line = headline(board);
      for (const one of replaced) expect(line.includes(one.by) || line.endsWith('…')).toBe(true);
      const free = roster.filter(({ name, role }) => role !== 'builder' && !mute.includes(name));
      const judged = new Set(judges.map(({ agent }) => agent));
      if (!isJudged && quorum === 'all' && !('onFail' in more) && line.startsWith('0: DONE')) {
        expect(last.filter(({ approved }) => approved)).toHaveLength(staffed.length);
        expect(line).not.toContain('without a verdict');
      }
      if (line.startsWith('1: FAILED') && !('onFail' in more)) {
        const roles = new Set(['reviewer', ...staffed, ...by]);
        expect(free.filter(({ name, role }) => roles.has(role) && !judged.has(name))).toEqual([]);
      }
      expect(foldPlan(board.facts, entries)).toEqual(board);
    },
  );
});
