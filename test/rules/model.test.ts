import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import type { Frontier } from '../../src/rules/frontier.ts';
import { isIntegrating } from '../../src/rules/onward.ts';
import { liveAttempts } from '../../src/rules/work-requests.ts';
import { isDelivered } from '../../src/rules/work-status.ts';
import { FAILURE_KINDS } from '../../src/model/failure.ts';
import { planEntrySchema } from '../../src/model/plan/entry.ts';
import type { Board, Member } from '../../src/model/plan/board.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import {
  factsOf,
  failed,
  foldPlan,
  member,
  rejects,
  simulate,
  type Played,
  type Script,
} from '../playbooks/simulator.ts';
import { newTask } from './support.ts';
import { SPREAD, spread } from '../support/lane.ts';

const ROSTER: Member[] = [
  member('bob', 'builder', { account: 'one' }),
  member('cyd', 'builder', { account: 'two', capacity: 2 }),
  member('rex', 'reviewer', { account: 'one' }),
  member('bea', 'reviewer', { account: 'two' }),
  member('pam', 'pm', { account: 'two' }),
];
const PARALLEL = 3;

interface World {
  readonly tasks: readonly NewTask[];
  readonly dice: readonly number[];
}

const taskArbitrary = (index: number): fc.Arbitrary<NewTask> =>
  fc
    .record({
      needs: fc.subarray(Array.from({ length: index }, (_, before) => `t${before}`)),
      by: fc.constantFrom([], ['reviewer'], ['reviewer', 'pm'], ['builder']),
      quorum: fc.constantFrom('all' as const, 'any' as const),
      rounds: fc.integer({ min: 1, max: 3 }),
      integrate: fc.boolean(),
      session: fc.constantFrom('new' as const, 'agent' as const),
      priority: fc.integer({ min: -1, max: 1 }),
    })
    .map(({ needs, by, quorum, rounds, integrate, session, priority }) =>
      newTask(`t${index}`, {
        needs,
        integrate,
        session,
        priority,
        ...(by.length === 0 ? {} : { review: { by: [...by], quorum, rounds, criteria: ['works'] } }),
      }),
    );

const worlds: fc.Arbitrary<World> = fc.record({
  tasks: fc
    .integer({ min: 1, max: 6 })
    .chain((size) => fc.tuple(...Array.from({ length: size }, (_, i) => taskArbitrary(i)))),
  dice: fc.array(fc.nat({ max: 999 }), { minLength: 20, maxLength: 60 }),
});

/** Everything that can go wrong does, by the dice, in any order. */
function play({ tasks, dice }: World): Played {
  let thrown = 0;
  const throwDie = (): number => dice[thrown++ % dice.length] ?? 0;
  const script: Script = {
    choose: () => throwDie(),
    turn: ({ review }, board) => {
      const die = throwDie();
      if (die % 5 === 0) {
        const kind = FAILURE_KINDS[die % FAILURE_KINDS.length] ?? 'lost';
        return failed(kind, die % 2 === 0 ? { retryAt: board.now + 1_000 } : {});
      }
      if (review === null) return undefined;
      if (die % 5 === 1) return { output: { approved: true } };
      return die % 5 < 4 ? rejects(`finding ${die % 3}`) : undefined;
    },
    evidence: () => (throwDie() % 6 === 0 ? { commit: null, commits: 0, changedPaths: [] } : undefined),
    conflict: () => (throwDie() % 4 === 0 ? ['a'] : undefined),
    verify: () => (throwDie() % 4 === 0 ? 'red' : undefined),
    answer: () => (throwDie() % 2 === 0 ? 'try again' : 'give up'),
  };
  const plan = tasks.map((task) => ({ do: 'add-task', task }) as const);
  // A person who answers in circles would keep the run alive for ever: the dice repeat.
  return simulate({
    facts: factsOf(ROSTER),
    plan,
    script: { ...script, answer: limited(script.answer) },
    parallel: PARALLEL,
  });
}

function limited(answer: Script['answer']): NonNullable<Script['answer']> {
  let left = 20;
  return (question) => ((left -= 1) > 0 ? answer?.(question) : 'give up');
}

function startsOf(played: Played): { board: Board; starts: Frontier['starts'] }[] {
  return played.steps.map(({ board, next }) => ({ board, starts: next.next === 'start' ? next.starts : [] }));
}

describe('any plan, whatever happens', SPREAD, () => {
  test.prop([worlds], { numRuns: spread(100, 300) })('ends, and every task with it, once', (world) => {
    const played = play(world);
    expect(played.end.next).toBe('finish');
    for (const { task, work } of played.board.tasks.values()) {
      expect(work.phase.at).toBe('ended');
      const ends = played.events.filter(
        (event) =>
          (event.type === 'task-done' || event.type === 'task-failed' || event.type === 'task-skipped') &&
          event.task === task.id,
      );
      expect(ends).toHaveLength(1);
      expect(liveAttempts(work)).toEqual([]);
    }
  });

  test.prop([worlds], { numRuns: spread(100, 300) })('starts nothing before its needs are delivered', (world) => {
    for (const { board, starts } of startsOf(play(world))) {
      for (const { task } of starts) {
        const needs = board.tasks.get(task)?.task.needs ?? [];
        expect(needs.filter((need) => !isDelivered(board.tasks.get(need)))).toEqual([]);
      }
    }
  });

  test.prop([worlds], { numRuns: spread(100, 300) })(
    'keeps to its parallelism, its capacities and one attempt a session',
    (world) => {
      for (const { board } of play(world).steps) {
        const live = [...board.tasks.values()].flatMap(({ work }) => liveAttempts(work));
        expect(live.length).toBeLessThanOrEqual(PARALLEL);
        const sessions = live.map(({ session }) => session);
        expect(new Set(sessions).size).toBe(sessions.length);
        expect(live.filter(({ agent }) => agent === 'cyd').length).toBeLessThanOrEqual(2);
      }
    },
  );

  test.prop([worlds], { numRuns: spread(100, 300) })('never passes a cap on rounds, retries or returns', (world) => {
    for (const { task, work } of play(world).board.tasks.values()) {
      const cap = task.review?.rounds ?? 4;
      expect(work.round).toBeLessThanOrEqual(cap);
      expect(work.rounds.filter((round) => !round.approved).length).toBeLessThanOrEqual(cap);
      expect(work.author.used.retries).toBeLessThanOrEqual(2);
      expect(Math.max(work.returns.conflict, work.returns.verify)).toBeLessThanOrEqual(3);
    }
  });

  test.prop([worlds], { numRuns: spread(100, 300) })(
    'has no author review, and delivers exactly what was approved',
    (world) => {
      for (const { task, work } of play(world).board.tasks.values()) {
        for (const round of work.rounds) {
          for (const reviewer of round.by) expect(work.authors).not.toContain(reviewer.agent);
        }
        if (work.phase.at !== 'ended' || work.phase.as !== 'done') continue;
        expect(work.commit).not.toBeNull();
        if (task.review !== undefined) {
          expect(work.rounds.at(-1)).toMatchObject({ approved: true, commit: work.commit });
          expect(work.rounds.at(-1)?.by.some((one) => one.approved)).toBe(true);
        }
      }
    },
  );

  test.prop([worlds], { numRuns: spread(100, 300) })(
    'moves the run branch one candidate at a time, and only to what passed',
    (world) => {
      for (const { board } of play(world).steps) {
        const underWay = [...board.tasks.values()].filter(({ work }) => isIntegrating(work.phase));
        expect(underWay.length).toBeLessThanOrEqual(1);
      }
    },
  );

  test.prop([worlds], { numRuns: spread(70, 200) })(
    'is the same again from the same inputs, and from what was stored',
    (world) => {
      const played = play(world);
      const again = play(world);
      expect(again.board).toEqual(played.board);
      expect(again.turns).toEqual(played.turns);
      const stored = played.entries.map((entry) => planEntrySchema.parse(JSON.parse(JSON.stringify(entry))));
      expect(foldPlan(factsOf(ROSTER), stored)).toEqual(played.board);
    },
  );

  test.prop([worlds], { numRuns: spread(70, 200) })('numbers attempts without a gap, each once', (world) => {
    const { turns, board } = play(world);
    expect(new Set(turns.map((turn) => turn.attempt)).size).toBe(turns.length);
    for (const { task, work } of board.tasks.values()) {
      const numbers = turns.filter((turn) => turn.task === task.id).map((turn) => turn.number);
      expect(numbers).toEqual(Array.from({ length: work.attempts }, (_, index) => index + 1));
    }
  });
});
