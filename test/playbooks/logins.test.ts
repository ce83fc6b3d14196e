import { describe, expect, it } from 'vitest';
import type { Member } from '../../src/model/plan/board.ts';
import type { Intervention } from '../../src/model/plan/intervention.ts';
import type { DescribedRuntimes } from '../../src/model/runtime-description.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import { newTask } from '../rules/support.ts';
import { factsOf, failed, member, simulate, type Script } from './simulator.ts';

const CODEX = member('bob', 'builder', { account: 'codex' });
const CLAUDE = member('cyd', 'builder', { account: 'claude' });
const QUESTION = 'engine/auth/codex';
/** As they were registered. */
const RUNTIMES = { player: { onlyByName: true }, codex: { login: 'codex login' }, mine: {} };

/** Tasks that one after the other are bob's. */
function bobs(count: number): NewTask[] {
  return Array.from({ length: count }, (_none, index) => newTask(`t${index}`, { agent: 'bob' }));
}

/** bob's account has no login until somebody logs in. */
function play(
  tasks: readonly NewTask[],
  roster: readonly Member[],
  script: Script = {},
  parallel = 1,
  runtimes: DescribedRuntimes = RUNTIMES,
  fallbacks: Readonly<Record<string, string>> = {},
) {
  const asked: string[] = [];
  let locked = true;
  const played = simulate({
    facts: { ...factsOf(roster), runtimes, fallbacks },
    plan: tasks.map((task) => ({ do: 'add-task', task }) as const),
    parallel,
    script: {
      turn: (turn) => (turn.account === 'codex' && locked ? failed('auth') : undefined),
      ...script,
      answer: (question) => {
        asked.push(question.id);
        const answer = script.answer?.(question);
        locked &&= answer !== 'try again';
        return answer;
      },
    },
  });
  const by = (name: string): number => played.turns.filter(({ agent }) => agent === name).length;
  const ends = [...played.board.tasks.values()].map(({ work: { phase } }) =>
    phase.at === 'ended' ? phase.as : phase.at,
  );
  return { played, asked, by, ends };
}

describe('an account without a login', () => {
  it('is tried once, and asked about once, however many tasks wait for it', () => {
    const { played, asked, by, ends } = play(bobs(6), [CODEX, CLAUDE]);
    expect(played.end).toMatchObject({ next: 'ask', questions: [{ id: QUESTION, options: ['try again', 'give up'] }] });
    expect([asked, by('bob'), by('cyd')]).toEqual([[QUESTION], 1, 0]);
    expect(ends).toEqual(Array.from({ length: 6 }, () => 'working'));
    const text = played.board.questions.get(QUESTION)?.text;
    expect(text).toContain('`codex login`');
    expect(text).toContain('`squad switch claude --agent bob`');
  });

  it.each<[string, DescribedRuntimes, string | undefined]>([
    ['a registered one where the team has no other', RUNTIMES, '`squad switch mine --agent bob`'],
    ['none where nothing else is registered', { codex: {} }, undefined],
  ])('names another runtime: %s', (_title, runtimes, command) => {
    const { played } = play(bobs(1), [CODEX], {}, 1, runtimes);
    const text = played.board.questions.get(QUESTION)?.text ?? '';
    expect(/`squad switch[^`]*`/.exec(text)?.[0]).toBe(command);
    expect(text.includes('with `codex login`')).toBe(runtimes === RUNTIMES);
  });

  it('is stood in for from its first failure on, by the same agent on the fallback, and no question is asked', () => {
    const { played, ends } = play(bobs(6), [CODEX], {}, 1, RUNTIMES, { codex: 'claude' });
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    expect(played.turns.map(({ agent, account, insteadOf }) => [agent, account, insteadOf])).toEqual([
      ['bob', 'codex', undefined],
      ...Array.from({ length: 6 }, () => ['bob', 'claude', 'codex']),
    ]);
    expect(new Set(ends)).toEqual(new Set(['done']));
    expect(played.board.questions.size).toBe(0);
    expect(played.board.tasks.get('t1')?.work.standIns).toEqual([
      { agent: 'bob', account: 'claude', insteadOf: 'codex', review: null },
    ]);
  });

  it('is tried by one attempt after the answer; the rest follows once that has worked', () => {
    const most: number[] = [];
    const { played, by } = play(bobs(6), [CODEX], { answer: () => 'try again' }, 6);
    for (const { next } of played.steps)
      if (next.next === 'start' && next.starts.length > 0) most.push(next.starts.length);
    // All at once before anybody knew, then the probe alone.
    expect(most.slice(0, 2)).toEqual([6, 1]);
    expect(by('bob')).toBe(12);
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('is asked about again where the login still does not work, at one attempt each time', () => {
    let times = 0;
    const { asked, by } = play(bobs(3), [CODEX], {
      turn: () => (times < 3 ? failed('auth') : undefined),
      answer: () => {
        times += 1;
        return 'try again';
      },
    });
    expect(asked).toEqual([QUESTION, QUESTION, QUESTION]);
    expect(by('bob')).toBe(3 + 3);
  });

  it('that a person gives up on fails what only it can do, and the run ends', () => {
    const { played, ends } = play([...bobs(2), newTask('free', { agent: 'cyd' })], [CODEX, CLAUDE], {
      answer: () => 'give up',
    });
    expect(ends).toEqual(['failed', 'failed', 'done']);
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'failed' });
    expect(played.board.tasks.get('t1')?.work.phase).toMatchObject({ why: `${QUESTION}: a person gave up on it` });
  });

  it.each<[string, Intervention]>([
    ['a retry', { verb: 'retry', task: 't0', fresh: false }],
    ['a switch', { verb: 'switch', on: 'agent/bob', runtime: 'claude' }],
  ])('is left behind by %s, without an answer', (_what, intervention) => {
    let told = false;
    const { played, asked } = play(bobs(2), [CODEX, CLAUDE], {
      turn: (turn) => (turn.account === 'codex' && !told ? failed('auth') : undefined),
      outside: (board) => {
        if (told || board.lockedOut.size === 0) return undefined;
        told = true;
        return { type: 'intervention', by: 'eve', intervention };
      },
    });
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(asked).toEqual([]);
  });
});
