import { found, quoting } from '../support/findings.ts';
import { describe, expect, it } from 'vitest';
import { draftOf } from '../../src/rules/board.ts';
import { gateChecked } from '../../src/rules/accept-event.ts';
import {
  authorsOf,
  isGateDue,
  isJudge,
  isRestoreDue,
  judgeTask,
  pickJudge,
  problemsOf,
  verdictOn,
  verdictsAt,
  withVerdict,
  wordOn,
} from '../../src/rules/gate.ts';
import type { CheckerChange } from '../../src/model/plan/checker.ts';
import {
  CLOSED_GATE,
  type Gate,
  type GateFacts,
  type RecordedVerdict,
  type Verdict,
} from '../../src/model/plan/gate.ts';
import type { Board, Question } from '../../src/model/plan/board.ts';
import { member } from '../playbooks/simulator.ts';
import { boardWith, newTask, stateOf } from './support.ts';

const HEAD = 'base';
const QUOTE = quoting('src/a.ts');
const LOOKED = found([
  { by: 'rex', evidence: QUOTE },
  { by: 'rex', evidence: quoting('gone.ts') },
]);
const facts = (more: Partial<GateFacts> = {}): GateFacts => ({
  ...{ expected: HEAD, head: HEAD, missing: [], commands: [], looked: LOOKED },
  ...more,
});
const verdict = (more: Partial<Verdict> = {}): Verdict => ({
  ...{ criterion: 0, met: true, evidence: QUOTE, why: 'it is there' },
  ...more,
});
const NO = verdict({ met: false, evidence: null, why: 'it is missing' });
const recorded = (one: Verdict, more: Partial<RecordedVerdict> = {}): RecordedVerdict => ({
  ...{ task: 'j', by: 'rex', commit: HEAD, verdict: one },
  ...more,
});
const gate = (more: Partial<Gate> = {}): Gate => ({ ...CLOSED_GATE, ...more });
const GUARDED: CheckerChange = { path: 'test.sh', status: 'modified', added: 1, removed: 1, protected: true };

describe('verdicts', () => {
  it('at a commit are those recorded there, and then those of the judge', () => {
    const all = gate({
      recorded: [recorded(NO), recorded(NO, { commit: 'old' })],
      judgement: { task: 'judge', commit: HEAD, by: 'ann', verdicts: [verdict()] },
    });
    expect(verdictsAt(HEAD, all)).toMatchObject([recorded(NO), { by: 'ann', verdict: verdict() }]);
    expect(verdictsAt('new', all)).toEqual([]);
    expect(verdictsAt('old', gate({ recorded: all.recorded }))).toEqual([recorded(NO, { commit: 'old' })]);
  });

  it.each<[string, Verdict[], Partial<GateFacts>, boolean | undefined]>([
    ['a quote that is there', [verdict()], {}, true],
    ['before its evidence was looked up: none', [verdict()], { looked: undefined }, undefined],
    ['whose evidence could not be looked up', [verdict()], { looked: {} }, true],
    ['without evidence: none', [verdict({ evidence: null })], {}, undefined],
    ['of a file that is not there: none', [verdict({ evidence: quoting('gone.ts') })], {}, undefined],
    ['one who misses something outweighs the others', [verdict(), NO], {}, false],
    ['of another criterion: none', [verdict({ criterion: 1 })], {}, undefined],
  ])('%s', (_, verdicts, more, met) => {
    const found = verdictOn(0, facts(more), gate({ recorded: verdicts.map((one) => recorded(one)) }));
    expect(found?.verdict.met).toBe(met);
  });

  it('on a protected path need no line', () => {
    const word = verdict({ criterion: 1, evidence: null });
    const said = (...all: Verdict[]) =>
      wordOn(1, { head: HEAD }, gate({ recorded: all.map((one) => recorded(one)) }))?.verdict.met;
    expect([said(word), said(word, { ...NO, criterion: 1 }), said(NO)]).toEqual([true, false, undefined]);
  });

  it.each<[string, RecordedVerdict[], RecordedVerdict, string[]]>([
    [
      'is added',
      [recorded(verdict({ why: 'a' }), { task: 'k', by: 'ann' })],
      recorded(verdict({ why: 'b' })),
      ['a', 'b'],
    ],
    [
      'replaces what the same judge said',
      [recorded(verdict({ why: 'a' }), { task: 'k' })],
      recorded(verdict({ why: 'b' })),
      ['b'],
    ],
    [
      'replaces what the same task said',
      [recorded(verdict({ why: 'a' }), { by: 'ann' })],
      recorded(verdict({ why: 'b' })),
      ['b'],
    ],
    [
      'not about another criterion',
      [recorded(verdict({ why: 'a', criterion: 1 }))],
      recorded(verdict({ why: 'b' })),
      ['a', 'b'],
    ],
    [
      'makes those on other commits void',
      [recorded(verdict({ why: 'a', criterion: 1 }), { commit: 'old' })],
      recorded(verdict({ why: 'b' })),
      ['b'],
    ],
    ['of an author that it is met does not count', [], recorded(verdict({ why: 'b' }), { by: 'bob' }), []],
    ['of an author that it is not met does', [], recorded({ ...NO, why: 'b' }, { by: 'bob' }), ['b']],
  ])('a further one %s', (_, before, one, whys) => {
    expect(withVerdict(before, one, new Set(['bob'])).map((each) => each.verdict.why)).toEqual(whys);
  });
});

describe('the problems of a run branch', () => {
  const command = (more: object): GateFacts['commands'][number] => ({
    purpose: 'verify',
    run: 'x',
    passed: false,
    output: 'red',
    ...more,
  });
  it.each<[string, Partial<GateFacts>, Gate, string[]]>([
    ['none', { commands: [command({ passed: true })] }, gate(), []],
    [
      'what fails',
      { commands: [command({}), command({ purpose: 'setup', output: 'no' })] },
      gate(),
      ['verify: red', 'setup: no'],
    ],
    [
      'not a criterion that cannot run',
      { commands: [command({ purpose: 'criterion', cannotRun: 'no such file' })] },
      gate(),
      [],
    ],
    ['but a check that cannot', { commands: [command({ cannotRun: 'no such file' })] }, gate(), ['verify: red']],
    [
      'a criterion that is not met',
      {},
      gate({ recorded: [recorded(NO)] }),
      ['criterion “nice” is not met, says rex: it is missing'],
    ],
    [
      'by a judge without a name',
      {},
      gate({ judgement: { task: 'judge', commit: HEAD, by: null, verdicts: [NO] } }),
      ['criterion “nice” is not met, says its judge: it is missing'],
    ],
    ['not one with a command', {}, gate({ recorded: [recorded({ ...NO, criterion: 1 })] }), []],
    [
      'a change of what checks the work that is not accepted',
      { checkers: [GUARDED] },
      gate({ recorded: [recorded({ ...NO, criterion: 2 })] }),
      [expect.stringMatching(/: no, says rex: it is missing$/)],
    ],
    [
      'by a judge without a name',
      { checkers: [GUARDED, { ...GUARDED, path: 'b.sh' }] },
      gate({ judgement: { task: 'judge', commit: HEAD, by: null, verdicts: [{ ...NO, criterion: 3 }] } }),
      [expect.stringMatching(/b\.sh.*: no, says its judge: it is missing$/)],
    ],
    ['not one on which there is no word', { checkers: [GUARDED] }, gate(), []],
  ])('are %s', (_, more, at, expected) => {
    expect(problemsOf(facts(more), at, [{ text: 'nice' }, { text: 'fast', command: 'x' }])).toEqual(expected);
  });
});

describe('a judge', () => {
  const wrote = (id: string, by: string, workspace: 'own' | 'none') => stateOf(id, { workspace }, { authors: [by] });

  it('has written none of the work', () => {
    const roster = [
      member('bob', 'builder'),
      member('rex', 'reviewer'),
      member('ann', 'reviewer'),
      member('mia', 'member'),
    ];
    const pick = (...states: ReturnType<typeof wrote>[]) => pickJudge(boardWith(states, {}, roster))?.name;
    expect([pick(), pick(wrote('a', 'rex', 'own')), pick(wrote('a', 'rex', 'none'))]).toEqual(['rex', 'ann', 'rex']);
    expect(pick(wrote('a', 'rex', 'own'), wrote('b', 'ann', 'own'))).toBe('mia');
    expect(authorsOf([wrote('a', 'rex', 'own'), wrote('b', 'ann', 'none')])).toEqual(new Set(['rex']));
  });

  it('is asked for what is open, by number', () => {
    const task = judgeTask('judge', { name: 'rex', role: 'reviewer' }, [{ text: 'nice' }, { text: 'fast' }], [1, 2], {
      changes: ['test.sh is right'],
    });
    const { brief, ...rest } = task;
    expect(brief.text.split('\n\n')).toEqual([
      'All work is delivered, and the current folder shows it. No command checks these success criteria, so judge them:',
      'C2: fast\nC3: test.sh is right',
      expect.stringMatching(/^Read the files, .*Answer with `verdicts`\.$/) as string,
    ]);
    expect(rest).toEqual({
      ...{
        id: 'judge',
        title: 'Judge the criteria that have no command',
        role: 'reviewer',
        agent: 'rex',
        kind: 'work',
      },
      ...{ needs: [], workspace: { read: 'run' }, session: 'new', output: { schema: 'judgement', repairs: 1 } },
      ...{ requires: [], integrate: false, builds: true, owner: 'engine' },
    });
  });

  it('is known by its owner and its answer', () => {
    const output = { schema: 'judgement', repairs: 1 };
    expect(
      [newTask('a', { owner: 'engine', output }), newTask('a', { output }), newTask('a', { owner: 'engine' })].map(
        isJudge,
      ),
    ).toEqual([...[true, false, false]]);
    expect(isJudge(newTask('a', { owner: 'engine', output: { schema: 'plan', repairs: 1 } }))).toBe(false);
  });
});

describe('what is due', () => {
  const CHECKING: Partial<Board> = { gate: gate({ at: 'checking' }) };
  const question: Question = { id: 'q', text: '', options: [], blocks: 'run', by: 'engine', answer: null };
  const branch = (way: 'restore' | null, checkedOut: { question: string } | null = null): Partial<Board> => ({
    branch: { head: HEAD, foreign: { head: 'x', question: 'q', way }, checkedOut },
  });
  const FINISHED: Partial<Board> = { finished: { outcome: 'done', why: '' } };
  const asked: Partial<Board> = {
    ...{ baseline: { at: 'known', tries: 1, facts: null, question: 'q', without: null } },
    questions: new Map([['q', question]]),
  };

  it.each<[string, Partial<Board>, boolean]>([
    ['the check of the run branch', CHECKING, true],
    ['not before it is proposed', {}, false],
    ['not after the end', { ...CHECKING, ...FINISHED }, false],
    ['not while the branch is moved away', { ...CHECKING, ...branch(null) }, false],
    [
      'not while it is checked out',
      { ...CHECKING, branch: { head: HEAD, foreign: null, checkedOut: { question: 'q' } } },
      false,
    ],
    ['not while a question about the base commit is open', { ...CHECKING, ...asked }, false],
  ])('%s', (_, more, expected) => expect(isGateDue({ ...boardWith([]), ...more })).toBe(expected));

  it('is no check while a task is open', () => {
    expect(isGateDue({ ...boardWith([stateOf('a')]), ...CHECKING })).toBe(false);
  });

  it.each<[string, Partial<Board>, boolean]>([
    ['the branch goes back where a person said so', branch('restore'), true],
    ['not before', branch(null), false],
    ['not while it is checked out', branch('restore', { question: 'q' }), false],
    ['not after the end', { ...branch('restore'), ...FINISHED }, false],
    ['not where it is in its place', {}, false],
  ])('%s', (_, more, expected) => expect(isRestoreDue({ ...boardWith([]), ...more })).toBe(expected));
});

describe('the check of the run branch', () => {
  const RED: GateFacts['commands'][number] = { purpose: 'verify', run: 'x', passed: false, output: 'red' };
  const checked = (found: Partial<GateFacts>, at: Partial<Gate> = {}, more: Partial<Board> = {}) => {
    const board = { ...boardWith([]), gate: gate({ at: 'checking', why: 'all is there', ...at }), ...more };
    const draft = draftOf(board, { seq: 5, at: 9_000 });
    gateChecked(draft, facts(found));
    return draft;
  };

  it('ends the run where nothing is wrong, and says what is open', () => {
    const problems = { at: 1, texts: ['old'] };
    const draft = checked({}, { remarks: ['one is open'], problems });
    expect(draft.finished).toStrictEqual({ outcome: 'done', why: 'all is there', remarks: ['one is open'] });
    expect(draft.gate.at).toBe('idle');
    expect(draft.gate).not.toHaveProperty('problems');
    expect(checked({}).finished).toStrictEqual({ outcome: 'done', why: 'all is there' });
  });

  it.each<[string, Partial<GateFacts>, Partial<Gate>, Partial<Board>]>([
    ['nothing was proposed', {}, { at: 'idle' }, {}],
    ['the run has ended', {}, {}, { finished: { outcome: 'failed', why: 'x' } }],
    ['work was delivered meanwhile', { expected: 'old' }, {}, {}],
  ])('is out of date where %s', (_, found, at, more) => {
    const draft = checked({ ...found, commands: [RED] }, at, more);
    expect([draft.news, draft.gate.facts, draft.finished ?? null]).toEqual([[], null, more.finished ?? null]);
  });

  it('fails the run where delivered work is missing', () => {
    expect(checked({ missing: ['a', 'b'] }).finished).toEqual({
      ...{ outcome: 'failed', why: 'delivered work is missing from the run branch: a, b' },
    });
  });

  const two = { commands: [RED, { ...RED, purpose: 'setup', output: 'no' } as const] };
  it('is told to the playbook where something is wrong', () => {
    const draft = checked(two);
    expect(draft.news).toEqual([{ type: 'gate-refused', refused: 1, problems: ['verify: red', 'setup: no'] }]);
    expect(draft.gate).toMatchObject({
      at: 'idle',
      refused: 1,
      problems: { at: 9_000, texts: ['verify: red', 'setup: no'] },
    });
    expect(draft.finished).toBeNull();
  });

  const before = (head: string, refused: number) => ({ facts: facts({ head }), refused });
  it.each<[string, Partial<Gate>, boolean]>([
    ['once more', before('older', 1), false],
    ['not at the same commit again', before(HEAD, 1), true],
    ['but where that was not refused', before(HEAD, 0), false],
    ['as often as there are rounds', before('older', 3), false],
    ['not more often', before('older', 4), true],
    ['where nothing was known before', { facts: null, refused: 1 }, false],
  ])('may be refused %s', (_, at, ends) => {
    expect(checked(two, at).finished).toEqual(ends ? { outcome: 'failed', why: 'verify: red\nsetup: no' } : null);
  });

  it('asks a judge for the criteria without a command, and for protected paths', () => {
    const board = boardWith([]);
    const objective = { ...board.facts.objective, criteria: [{ text: 'nice' }] };
    const draft = checked({ checkers: [GUARDED] }, {}, { facts: { ...board.facts, objective } });
    expect([draft.gate.at, draft.gate.judge, draft.finished]).toEqual(['judging', 'judge', null]);
    const text = draft.tasks.get('judge')?.task.brief.text;
    expect(text).toMatch(/\nC1: nice\nC2: .*\(test\.sh \(−1 \+1\); see `git diff base base`\)\n/);
  });
});
