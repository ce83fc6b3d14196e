import { describe, expect, it } from 'vitest';
import { concludeRun } from '../../src/rules/conclude.ts';
import type { Json } from '../../src/text/json.ts';
import type { RunFacts } from '../../src/model/plan/board.ts';
import { createDeliveryPlaybook } from '../../src/playbooks/delivery/index.ts';
import { withDeliveryList } from '../support/delivery-list.ts';
import {
  factsOf,
  failed,
  integratedTasks,
  member,
  rejects,
  simulate,
  type Played,
  type Script,
  type Turn,
} from './simulator.ts';

const TEAM = [member('ada', 'planner'), member('bob', 'builder'), member('cyd', 'builder'), member('rex', 'reviewer')];

function task(id: string, needs: string[] = [], role = 'builder'): Json {
  return { id, title: `Do ${id}`, role, needs, brief: `Build ${id}.`, acceptance: [`${id} works`] };
}

const CHECKED = factsOf(TEAM, {
  objective: {
    title: 'Try',
    goals: [],
    criteria: [{ text: 'passes', command: 'npm test' }],
    constraints: [],
    context: '',
    text: 'Build it.',
  },
});

const DIAMOND: Json = {
  summary: 'a diamond',
  tasks: [task('d', ['b', 'c']), task('a'), task('b', ['a']), task('c', ['a'])],
};

function play(script: Script & { plan?: Json }, about: RunFacts = factsOf(TEAM)): Played {
  const facts = withDeliveryList(about);
  const playbook = createDeliveryPlaybook();
  const parsed = playbook.parse(facts);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  const turn = (one: Turn, ...rest: [Played['board']]) =>
    script.turn?.(one, ...rest) ?? (one.task === 'plan' ? { output: script.plan ?? DIAMOND } : undefined);
  return simulate({ facts, playbook, plan: playbook.plan(parsed.input), script: { ...script, turn } });
}

function status(played: Played, id: string): string | undefined {
  const phase = played.board.tasks.get(id)?.work.phase;
  return phase?.at === 'ended' ? phase.as : phase?.at;
}

describe('delivery', () => {
  it('tells the planner what its plan is checked by', () => {
    const facts = withDeliveryList(factsOf([...TEAM, member('eve', 'writer')]));
    const playbook = createDeliveryPlaybook();
    const parsed = playbook.parse(facts);
    const changes = parsed.ok ? playbook.plan(parsed.input) : [];
    const [brief] = changes.flatMap((change) => (change.do === 'add-task' ? [change.task.brief.text] : []));
    expect(brief).toContain('These roles build: builder, writer.');
    const schema = JSON.stringify(playbook.answers?.['plan']?.schema);
    expect(schema).toMatch(/"id":[^}]*lower-case [^}]*at most 24 characters; not `plan` or `fix-1`/);
    expect(schema).toContain('ids of the tasks that it builds on');
  });

  it('plans, builds in parallel, reviews, integrates and finishes', () => {
    const played = play({});
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    expect(['a', 'b', 'c', 'd'].map((id) => status(played, id))).toEqual(['done', 'done', 'done', 'done']);
    const together = played.steps.map(({ next }) => (next.next === 'start' ? next.starts.map((one) => one.task) : []));
    expect(together).toContainEqual(['b', 'c']);
  });

  it('gives a rejected piece back to the same session, and judges the new commit in the reviewer’s own', () => {
    const seen: string[] = [];
    const played = play({
      plan: { summary: '', tasks: [task('a')] },
      turn: ({ review, commit }) => {
        if (review === null) return undefined;
        seen.push(commit ?? '');
        return seen.length === 1 ? rejects('no test') : undefined;
      },
    });
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(new Set(seen).size).toBe(2);
    const turns = played.turns.filter((turn) => turn.task === 'a');
    expect(turns.map(({ review, session }) => [review, session.resume])).toEqual([
      [null, false],
      ['reviewer', false],
      [null, true],
      ['reviewer', true],
    ]);
    expect(turns[2]?.prompt).toMatchObject({ why: 'feedback', from: 'review' });
  });

  it('fails after the last round with the feedback of every round, and says what is not converging', () => {
    const played = play({
      plan: { summary: '', tasks: [task('a'), task('b', ['a']), task('c')] },
      turn: ({ task: id, review }) => (id === 'a' && review !== null ? rejects('No test at line 4.') : undefined),
    });
    expect(played.end).toMatchObject({ outcome: 'failed' });
    const failure = played.events.find((event) => event.type === 'task-failed' && event.task === 'a');
    expect(failure).toMatchObject({ cause: 'rejected', feedback: { length: 4 } });
    const feedback = failure?.type === 'task-failed' ? failure.feedback : [];
    expect(feedback.map((text) => text.includes('not converging'))).toEqual([false, true, true, true]);
    expect([status(played, 'b'), status(played, 'c')]).toEqual(['cancelled', 'done']);
  });

  it('says once what failed, and how much was cancelled with it', () => {
    const chain = ['b', 'c', 'd', 'e'].map((id, index) => task(id, ['abcd'.slice(index, index + 1)]));
    const played = play({
      plan: { summary: '', tasks: [task('a'), ...chain, task('other')] },
      turn: ({ task: id }) => (id === 'a' ? failed('bad-request') : undefined),
    });
    expect(played.end?.why).toBe('a: bad-request: it was bad-request\n4 tasks that need it were cancelled');
    const { headline } = concludeRun({ board: played.board, problem: undefined, strict: false });
    expect(headline).toBe('FAILED, a: bad-request: it was bad-request; 4 tasks that need it were cancelled');
  });

  it('never delivers a piece without evidence', () => {
    const played = play({
      evidence: (id) => (id === 'a' ? { commit: null, commits: 0, changedPaths: [] } : undefined),
    });
    expect(played.end).toMatchObject({ outcome: 'failed' });
    expect(played.events).toContainEqual(
      expect.objectContaining({ type: 'task-failed', task: 'a', cause: 'no-evidence' }),
    );
    expect(played.turns.filter((turn) => turn.task === 'a')).toHaveLength(2);
    expect(played.turns.some((turn) => turn.task === 'd')).toBe(false);
  });

  it.each([
    ['that is no plan', { summary: 'no tasks' }],
    ['with a circle', { summary: '', tasks: [task('a', ['b']), task('b', ['a'])] }],
    ['with an unknown role', { summary: '', tasks: [task('a', [], 'wizard')] }],
    ['with a path for an id', { summary: '', tasks: [task('../a')] }],
    ['with no tasks', { summary: '', tasks: [] }],
  ])('stops clearly on a plan %s, after one repair', (_title, plan: Json) => {
    const played = play({ plan });
    expect(played.end).toMatchObject({ outcome: 'failed' });
    expect(played.turns.map((turn) => turn.prompt.why)).toEqual(['start', 'feedback']);
  });

  it('goes on after a plan that was mended', () => {
    let turns = 0;
    const played = play({
      turn: ({ task: id }) => {
        if (id !== 'plan') return undefined;
        turns += 1;
        return turns === 1 ? { output: { summary: '', tasks: [] } } : undefined;
      },
    });
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  const SAYS = [
    ['fails', false],
    ['says that it passes and names a failure', true],
  ] as const;

  it.for(SAYS)(
    'hands work that its agent cannot commit to the committer, and then to the tester, which %s',
    ([, passed]) => {
      const team = [
        member('ada', 'planner'),
        member('bob', 'builder', { commits: false }),
        member('rex', 'reviewer'),
        member('com', 'committer'),
        member('tes', 'tester'),
      ];
      let tests = 0;
      const facts = withDeliveryList(factsOf(team), { publish: { remote: 'origin', pr: true } });
      const played = play(
        {
          plan: { summary: '', tasks: [task('a'), task('b', ['a'])] },
          turn: ({ task: id }) => {
            if (!id.endsWith('-test')) return undefined;
            tests += 1;
            return {
              output: {
                passed: passed || tests > 1,
                summary: 'tested',
                failures: tests > 1 ? ['None.'] : ['it crashes'],
              },
            };
          },
        },
        facts,
      );
      expect(played.end).toMatchObject({ outcome: 'done' });
      const order = played.turns.filter((turn) => turn.review === null).map((turn) => turn.task);
      expect(order).toEqual(['plan', 'a', 'a-commit', 'a-test', 'a', 'a-commit', 'a-test', 'b', 'b-commit', 'b-test']);
      expect(played.turns.find((turn) => turn.task === 'a-commit')?.base).toMatchObject({ base: 'commit' });
      expect(played.board.tasks.get('a-commit')?.task.requires).toContainEqual({ kind: 'pr' });
      expect(integratedTasks(played)).toEqual(['a-commit', 'a-commit', 'b-commit']);
    },
  );

  it('gives conflicts and failed verifications to their author, and delivers both', () => {
    const conflicts = new Set(['b']);
    const broken = new Set(['c']);
    const played = play({
      conflict: (id) => (conflicts.delete(id) ? ['src/a.ts'] : undefined),
      verify: (id) => (broken.delete(id) ? '1 test failed' : undefined),
    });
    expect(played.end).toMatchObject({ outcome: 'done' });
    const why = (id: string) =>
      played.turns.filter((turn) => turn.task === id && turn.review === null).map((turn) => turn.prompt);
    expect(why('b')[1]).toMatchObject({ why: 'feedback', from: 'conflict' });
    expect(why('c')[1]).toMatchObject({
      why: 'feedback',
      from: 'verify',
      text: expect.stringContaining('1 test failed'),
    });
    expect(played.board.tasks.get('b')?.work.round).toBe(1);
  });

  it('repairs what fails only together, twice at most', () => {
    let checks = 0;
    const gate = (fine: number) => () => {
      checks += 1;
      return checks > fine ? {} : { failing: ['npm test'] };
    };
    const played = play({ gate: gate(1) }, CHECKED);
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(played.turns.some((turn) => turn.task === 'fix-1')).toBe(true);
    checks = 0;
    const never = play({ gate: gate(99) }, CHECKED);
    expect(never.end).toMatchObject({ outcome: 'failed' });
    expect(checks).toBe(3);
  });

  it('repairs again after a person skipped a repair', () => {
    let skipped = false;
    const played = play(
      {
        plan: { summary: '', tasks: [task('a')] },
        gate: ({ tasks }) => (tasks.has('fix-2') ? {} : { failing: ['npm test'] }),
        outside: ({ tasks }) => {
          if (skipped || !tasks.has('fix-1')) return undefined;
          skipped = true;
          const intervention = { verb: 'skip', task: 'fix-1', why: 'not like this' } as const;
          return { type: 'intervention', intervention, by: 'dana' };
        },
      },
      CHECKED,
    );
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(['fix-1', 'fix-2'].map((id) => status(played, id))).toEqual(['skipped', 'done']);
  });

  it('waits for a usage limit with one probe, and burns nothing', () => {
    const team = TEAM.map((one) => ({ ...one, account: 'shared' }));
    let limited = 3;
    const played = play(
      {
        turn: ({ task: id }, board) => {
          if (id === 'plan' || limited === 0) return undefined;
          limited -= 1;
          return failed('quota-exhausted', { retryAt: board.now + 3_600_000 });
        },
      },
      factsOf(team),
    );
    expect(played.end).toMatchObject({ outcome: 'done' });
    for (const { work } of played.board.tasks.values())
      expect(work.author.used).toMatchObject({ retries: 0, infrastructure: 0 });
  });

  describe('review answers of the wrong form', () => {
    const plan = { summary: '', tasks: [task('a')] };
    /** Those of `useless` never give one of the right form. */
    const reviewed = (reviewers: readonly string[], useless: readonly string[]) => {
      const by: string[] = [];
      const played = play(
        {
          plan,
          turn: ({ review, agent }) => {
            if (review === null) return undefined;
            by.push(agent);
            return useless.includes(agent) ? { output: { nonsense: true } } : undefined;
          },
        },
        factsOf([...TEAM.slice(0, 3), ...reviewers.map((name) => member(name, 'reviewer'))]),
      );
      return { played, by };
    };

    it('go to another reviewer after two of them, who judges the same commit', () => {
      const { played, by } = reviewed(['rex', 'sue', 'tom'], ['rex', 'sue']);
      expect(by).toEqual(['rex', 'rex', 'sue', 'sue', 'tom']);
      expect(played.end).toMatchObject({ outcome: 'done' });
      expect(played.board.tasks.get('a')?.work.rounds).toMatchObject([{ round: 1, by: [{ agent: 'tom' }] }]);
    });

    it('fail the task once every reviewer gave two, and no author is asked', () => {
      const { played, by } = reviewed(['rex', 'sue'], ['rex', 'sue']);
      expect(by).toEqual(['rex', 'rex', 'sue', 'sue']);
      expect(status(played, 'a')).toBe('failed');
      expect(played.board.tasks.get('a')?.work.phase).toMatchObject({ why: expect.stringContaining('no verdict') });
    });
  });

  it('asks a person about a login, once for all, and goes on', () => {
    const team = TEAM.map((one) => ({ ...one, account: 'shared' }));
    let out = true;
    const asked: string[] = [];
    const played = play(
      {
        turn: ({ task: id }) => (id !== 'plan' && id !== 'a' && out ? failed('auth') : undefined),
        answer: (question) => {
          asked.push(question.id);
          out = false;
          return 'try again';
        },
      },
      factsOf(team),
    );
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(asked).toEqual(['engine/auth/shared']);
  });
});

describe('a planner that plans no task', () => {
  const without = (why: string): Json => ({ summary: '', tasks: [], cannot: { why, text: 'It is there.' } });
  const end = (why: string, facts?: RunFacts) => {
    const { board } = play({ plan: without(why) }, facts);
    return board.finished ?? board.gate;
  };

  it('ends the run as failed where the objective is unclear', () =>
    expect(end('unclear')).toMatchObject({
      outcome: 'failed',
      why: 'the planner finds the objective unclear: It is there.',
    }));

  it('is believed only by criteria that pass', () => {
    expect(end('nothing-to-do')).toMatchObject({ outcome: 'failed', why: expect.stringContaining('no criterion can') });
    expect(end('nothing-to-do', CHECKED)).toMatchObject({ outcome: 'done', why: 'nothing was to do: It is there.' });
  });
});

describe('a plan whose tasks change one file at the same time', () => {
  const both = (needs: string[]): Json => ({
    summary: '',
    tasks: [
      { ...(task('a') as object), files: ['x.ts'] },
      { ...(task('b', needs) as object), files: ['x.ts'] },
    ],
  });

  it('goes back to its planner once, and is carried out if it stays', () => {
    const asked: number[] = [];
    const played = play({
      turn: ({ task: id, prompt }) => {
        if (id !== 'plan') return undefined;
        asked.push(prompt.why === 'start' ? 0 : 1);
        return { output: both([]) };
      },
    });
    expect(asked).toEqual([0, 1]);
    expect(['a', 'b'].map((id) => status(played, id))).toEqual(['done', 'done']);
  });

  it('is carried out at once where one task needs the other', () => {
    const played = play({ plan: both(['a']) });
    expect(played.board.tasks.get('plan')?.work.attempts).toBe(1);
    expect(played.board.tasks.get('a')?.task.brief.touches).toEqual(['x.ts']);
  });
});
