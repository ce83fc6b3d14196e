import { describe, expect, it } from 'vitest';
import { answerBaseline, baselineChecked, checkBaselineAgain } from '../../src/rules/baseline-checked.ts';
import { draftOf, type Draft } from '../../src/rules/board.ts';
import type { Baseline, BaselineCommand } from '../../src/model/plan/baseline.ts';
import type { Board, Question, RunFacts } from '../../src/model/plan/board.ts';
import { boardWith, stateOf } from './support.ts';

const COMMIT = 'c1000000000000000001';
const SETUP = 'engine/setup-failed';
const ON = `on c10000000000, the commit that the run begins from`;

function command(more: Partial<BaselineCommand> = {}): BaselineCommand {
  return {
    ...{ purpose: 'verify', run: 'npm test', passed: false, cannotRun: false, how: 'exited with 1', words: 'no' },
    output: 'npm ERR\n',
    ...more,
  };
}
const CANNOT = command({ cannotRun: true });
const CRITERION = command({ purpose: 'criterion', run: 'run it', cannotRun: true, noProgram: true });

interface About {
  readonly baseline?: Partial<Baseline>;
  readonly facts?: Partial<RunFacts>;
  readonly more?: Partial<Board>;
}

function draft({ baseline = {}, facts = {}, more = {} }: About = {}): Draft {
  const board = boardWith([stateOf('a')], { baseline: 'report', ...facts });
  return draftOf({ ...board, baseline: { ...board.baseline, ...baseline }, ...more }, { seq: 5, at: 9 });
}

function checked(commands: BaselineCommand[], about: About = {}): Draft {
  const one = draft(about);
  baselineChecked(one, { commit: COMMIT, commands });
  return one;
}

const ways = (without: string) =>
  `“keep it” if the run is to make it pass; “go on without it” ${without}; “try again” runs it once more.`;

describe('the check of the base commit', () => {
  it('is known, and asks nothing where all can run', () => {
    const commands = [command({ passed: true }), command()];
    const one = checked(commands);
    expect(one.baseline).toEqual({
      at: 'known',
      tries: 1,
      facts: { commit: COMMIT, commands },
      question: null,
      without: null,
    });
    expect(one.questions.size).toBe(0);
  });

  it.each<[string, BaselineCommand, Partial<RunFacts>, string]>([
    [
      'a command of the settings',
      CANNOT,
      {},
      `verify: \`npm test\` cannot run (it exited with 1) ${ON}: no. Correct it in squad.yaml and run \`squad resume --reload\`, or answer: ${ways('never runs it')}`,
    ],
    [
      'one that fails, where all have to pass',
      command(),
      { baseline: 'green' },
      `verify: \`npm test\` exited with 1 ${ON}: no. Correct it in squad.yaml and run \`squad resume --reload\`, or answer: ${ways('never runs it')}`,
    ],
    [
      'one of a criterion',
      CRITERION,
      { doubtful: { commands: ['run it'], file: 'todo.md' } },
      `criterion: \`run it\` cannot run (it exited with 1) ${ON}: no. Correct it in todo.md and run \`squad resume --reload\`, or answer: ${ways('leaves its criterion unchecked')}`,
    ],
    [
      'one of a criterion without a file',
      CRITERION,
      {},
      `criterion: \`run it\` cannot run (it exited with 1) ${ON}: no. Install it, or answer: ${ways('leaves its criterion unchecked')}`,
    ],
  ])('asks about %s', (_, one, facts, text) => {
    const after = checked([one], { facts });
    expect([...after.questions.values()]).toEqual([
      {
        ...{ id: 'engine/baseline/5', text, blocks: 'run', by: 'engine', answer: null },
        options: ['try again', 'keep it', 'go on without it', 'give up'],
      },
    ]);
    expect(after.baseline.question).toBe('engine/baseline/5');
  });

  it('asks the one question about a setup that fails', () => {
    const setup = command({ purpose: 'setup', run: 'npm ci' });
    const asked: Question = {
      ...{ id: SETUP, blocks: [], by: 'engine', answer: null, options: ['try again', 'give up'] },
      text: 'npm ERR\nIf you change a command in squad.yaml, run `squad resume --reload`.',
    };
    expect([...checked([setup]).questions.values()]).toEqual([asked]);
    const open = { ...asked, text: 'asked by a task' };
    const before = checked([setup], { more: { questions: new Map([[SETUP, open]]) } });
    expect([before.questions.get(SETUP), before.baseline.question]).toEqual([open, SETUP]);
    const old = checked([setup], { more: { questions: new Map([[SETUP, { ...open, answer: 'try again' }]]) } });
    expect(old.questions.get(SETUP)).toEqual(asked);
  });

  it.each<[string, About]>([
    ['nobody waits for it', { baseline: { at: 'known' } }],
    ['the run has finished', { more: { finished: { outcome: 'failed', why: 'x' } } }],
  ])('says nothing where %s', (_, about) => {
    const after = checked([CANNOT], about);
    expect([after.baseline.facts, after.questions.size]).toEqual([null, 0]);
  });
});

describe('an answer about the base commit', () => {
  const known = (...commands: BaselineCommand[]): Partial<Baseline> => ({
    ...{ at: 'known', question: 'q', facts: { commit: COMMIT, commands } },
  });
  const answered = (answer: string, baseline: Partial<Baseline>, facts: Partial<RunFacts> = {}): Draft => {
    const one = draft({ baseline, facts });
    answerBaseline(one, answer, 'ada');
    return one;
  };
  const setup = command({ purpose: 'setup', run: 'npm ci' });

  it('gives up on the run', () => {
    const { finished, baseline } = answered('give up', known(CANNOT));
    expect(finished).toEqual({
      outcome: 'failed',
      why: `verify: \`npm test\` cannot run (it exited with 1) ${ON}: no; ada gave up on it`,
    });
    expect(baseline.question).toBeNull();
  });

  it.each<[string, string, Partial<Baseline>, object]>([
    ['try again', 'try again', known(CANNOT), { at: 'due', tries: 2, facts: null }],
    ['whatever else of a setup: again', 'keep it', known(setup), { at: 'due', tries: 2 }],
    ['keep it', 'keep it', known(CANNOT), { at: 'known', tries: 1, without: null }],
    ['whatever else: kept', 'well', known(CANNOT), { at: 'known', tries: 1, without: null }],
    ['nothing holds the run', 'go on without it', known(command()), { at: 'known', without: null }],
    ['nothing is known', 'give up', { at: 'due', facts: null, question: 'q' }, { at: 'due', facts: null }],
  ])('%s', (_, answer, baseline, expected) => {
    const after = answered(answer, baseline);
    expect(after.baseline).toMatchObject({ ...expected, question: null });
    expect(after.finished).toBeNull();
  });

  it.each<[RunFacts['baseline'], string[]]>([
    ['report', ['cannot', 'run it']],
    ['green', ['cannot', 'run it', 'fails']],
  ])('goes on without what holds the run: %s', (baseline, commands) => {
    const all = [
      command({ run: 'passes', passed: true, cannotRun: true }),
      command({ run: 'cannot', cannotRun: true }),
      CRITERION,
      command({ run: 'later', purpose: 'criterion' }),
      command({ run: 'fails' }),
    ];
    const after = answered('go on without it', known(...all), { baseline: baseline as 'green' });
    expect(after.baseline.without).toEqual({ by: 'ada', commands });
  });
});

it('the base commit is checked again after a reload, and an open question about it is withdrawn', () => {
  const question: Question = { id: 'q', text: 't', options: [], blocks: 'run', by: 'engine', answer: null };
  const again = (answer: string | null) => {
    const one = draft({ baseline: { question: 'q' }, more: { questions: new Map([['q', { ...question, answer }]]) } });
    checkBaselineAgain(one);
    return [one.questions.get('q')?.answer, one.baseline.at, one.baseline.tries, one.baseline.question];
  };
  expect([again(null), again('keep it')]).toEqual([
    ['withdrawn', 'due', 2, null],
    ['keep it', 'due', 2, null],
  ]);
});
