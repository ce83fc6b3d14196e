import { found, quoting } from '../support/findings.ts';
import { describe, expect, it } from 'vitest';
import { concludeRun, countTasks, criteriaOf, type ConclusionFacts } from '../../src/rules/conclude.ts';
import type { Board, TaskState } from '../../src/model/plan/board.ts';
import type { CheckerChange } from '../../src/model/plan/checker.ts';
import { CLOSED_GATE, type GateFacts, type Verdict } from '../../src/model/plan/gate.ts';
import { boardWith, endedAs, stateOf } from './support.ts';

const CHECKED = { text: 'it passes', command: 'npm test' };
const LOOSE = { text: 'it is nice' };
const GUARDED: CheckerChange = { path: 'a.js', status: 'modified', added: 1, removed: 2, protected: true };
const STOOD = { agent: 'ada', account: 'b', insteadOf: 'a', review: null } as const;

type Criteria = Board['facts']['objective']['criteria'];
interface About {
  readonly states?: readonly TaskState[];
  readonly criteria?: Criteria;
  readonly facts?: Partial<GateFacts> | null;
  readonly verdicts?: readonly Verdict[];
  readonly by?: string | null;
  readonly finished?: Board['finished'];
  readonly without?: Board['baseline']['without'];
  readonly given?: Partial<ConclusionFacts>;
}

function ran(
  purpose: 'setup' | 'verify' | 'criterion',
  passed: boolean,
  more: Partial<GateFacts['commands'][number]> = {},
) {
  return { purpose, run: 'npm test', passed, output: passed ? '' : 'one\n it is red \n', ...more };
}

function boardOf(about: About): Board {
  const { states = [], criteria = [], facts = {}, verdicts = [], by = 'rex', without = null } = about;
  const { finished = { outcome: 'done', why: 'all is there' } } = about;
  const objective = { title: '', goals: [], criteria, constraints: [], context: '', text: '' };
  const board = boardWith(states, { objective });
  const seen = { expected: 'base', head: 'base', missing: [], commands: [], ...facts };
  return {
    ...board,
    finished,
    gate: {
      ...CLOSED_GATE,
      facts: facts === null ? null : seen,
      judgement: { task: 'judge', commit: 'base', by, verdicts },
    },
    baseline: { ...board.baseline, without },
  };
}

function conclude(about: About) {
  return concludeRun({ board: boardOf(about), problem: undefined, strict: false, ...about.given });
}

const QUOTE = quoting('a.js', 'it is there', 3);
const LOOKED = found([{ by: 'rex', evidence: QUOTE }]);
const verdict = (met: boolean, more: Partial<Verdict> = {}): Verdict => ({
  ...{ criterion: 0, met, evidence: QUOTE, why: 'it says so' },
  ...more,
});
const VERIFIED = { commands: [ran('verify', true)] };
const skipped = (id: string, by: string) =>
  stateOf(id, {}, { ...endedAs('skipped', { cause: null }), override: { as: 'skipped', by, why: 'late' } });
const accepted = (id: string, by: string) =>
  stateOf(id, {}, { ...endedAs('done'), override: { as: 'done', by, why: 'fine' } });
const stalled = stateOf('s', {}, endedAs('skipped', { cause: 'attempts', why: 'silent' }));
const LONG = 'x'.repeat(400);

describe('the headline of a run', () => {
  it.each<[string, About, string]>([
    ['that did not end', { finished: null }, 'FAILED, the run ended without a decision'],
    ['that failed', { finished: { outcome: 'failed', why: 'no\nluck' } }, 'FAILED, no; luck'],
    ['that failed, in words that say so', { finished: { outcome: 'failed', why: 'failed at last' } }, 'FAILED at last'],
    ['that was cancelled', { finished: { outcome: 'cancelled', why: 'cancelled by dana' } }, 'CANCELLED by dana'],
    ['whose words only begin so', { finished: { outcome: 'failed', why: 'failedness' } }, 'FAILED, failedness'],
    ['that could not be published', { given: { problem: 'no remote' } }, 'FAILED, no remote'],
    ['that left out stalled work', { states: [stalled] }, 'FAILED, s was skipped because its agent stalled: silent'],
    [
      'whose task of the engine failed',
      { states: [stateOf('e', { owner: 'engine', title: 'Take in' }, endedAs('failed', { why: 'it conflicts' }))] },
      'FAILED, Take in: it conflicts',
    ],
    ['that made a folder', { given: { made: 'team' } }, 'DONE, made team'],
    ['that completed a folder', { given: { made: 'team', added: [] } }, 'DONE, completed team'],
    ['that checked nothing', {}, 'DONE, nothing was checked'],
    ['that verified', { facts: VERIFIED }, 'DONE, all work is delivered and verified'],
    [
      'whose verify failed',
      { facts: { commands: [ran('verify', true), ran('verify', false)] } },
      'DONE, nothing was checked',
    ],
    ['that only set up', { facts: { commands: [ran('setup', true)] } }, 'DONE, nothing was checked'],
    ['that verified another commit', { facts: { ...VERIFIED, head: 'old' } }, 'DONE, nothing was checked'],
    ['with a criterion that is left', { criteria: [LOOSE], facts: VERIFIED }, 'DONE, 1 of 1 criterion not checked'],
    [
      'with criteria that are left',
      { criteria: [LOOSE, LOOSE, CHECKED], facts: { commands: [ran('criterion', true)] } },
      'DONE, 2 of 3 criteria not checked',
    ],
    [
      'with a criterion that was judged',
      { criteria: [LOOSE], facts: { looked: LOOKED }, verdicts: [verdict(true)] },
      'DONE, 1 of 1 criterion judged by rex, not run',
    ],
    [
      'with criteria that were judged by one',
      {
        criteria: [LOOSE, LOOSE],
        facts: { looked: LOOKED },
        verdicts: [verdict(true), verdict(true, { criterion: 1 })],
      },
      'DONE, 2 of 2 criteria judged by rex, not run',
    ],
    [
      'with a criterion that was judged by no one who is known',
      { criteria: [LOOSE], facts: { looked: LOOKED }, verdicts: [verdict(true)], by: null },
      'DONE, 1 of 1 criterion judged by , not run',
    ],
    [
      'whose criterion cannot be run',
      { criteria: [CHECKED], facts: { commands: [ran('criterion', false, { cannotRun: 'no  such program' })] } },
      'DONE, 1 of 1 criterion not checked; cannot run `npm test`: no such program',
    ],
    [
      'with what people skipped and accepted',
      {
        facts: VERIFIED,
        states: [skipped('a', 'dana'), skipped('b', 'eve'), skipped('c', 'dana'), accepted('d', 'eve')],
      },
      'DONE, skipped by dana: a, c; skipped by eve: b; accepted by eve: d',
    ],
    [
      'without what people said and did not come so',
      {
        facts: VERIFIED,
        states: [stateOf('a', {}, { ...endedAs('done'), override: { as: 'skipped', by: 'dana', why: '' } })],
      },
      'DONE, all work is delivered and verified',
    ],
    [
      'without what people said before its end',
      { facts: VERIFIED, states: [stateOf('a', {}, { override: { as: 'done', by: 'dana', why: '' } })] },
      'DONE, all work is delivered and verified',
    ],
    [
      'with what was left out',
      { facts: VERIFIED, without: { by: 'dana', commands: ['a', 'b'] } },
      'DONE, left out by dana: `a`, `b`',
    ],
    [
      'with what is open besides',
      { facts: VERIFIED, finished: { outcome: 'done', why: '', remarks: ['a\nb', LONG] } },
      `DONE, a; b; ${'x'.repeat(119)}…`,
    ],
    [
      'with those who stood in',
      { facts: VERIFIED, states: [stateOf('a', {}, { ...endedAs('done'), standIns: [STOOD] })] },
      'DONE, all work is delivered and verified; b stood in for a (ada)',
    ],
    [
      'that failed, with those who stood in',
      {
        finished: { outcome: 'failed', why: 'no' },
        states: [stateOf('a', {}, { ...endedAs('failed'), standIns: [STOOD] })],
      },
      'FAILED, no; b stood in for a (ada)',
    ],
    [
      'with what was flaky, and what changed the checks',
      {
        facts: { ...VERIFIED, checkers: [{ ...GUARDED, protected: undefined }] as CheckerChange[] },
        states: [stateOf('a', {}, { ...endedAs('done'), noted: { flaky: ['npm test'], changed: [] } })],
      },
      'DONE, all work is delivered and verified; flaky (failed and passed on the same commit): `npm test`; the work changed what checks it: a.js (−2 +1)',
    ],
    [
      'with the checks of the base',
      { facts: { ...VERIFIED, atBase: [ran('verify', false)] } },
      'DONE, all work is delivered and verified; with the checks as they were at the base, `npm test` fails',
    ],
  ] as [string, About, string][])('%s', (_name, about, expected) => expect(conclude(about).headline).toBe(expected));

  it.each([
    [291, `FAILED, ${'x'.repeat(291)}…`],
    [292, `FAILED, ${'x'.repeat(292)}`],
  ])('is no longer than 300 characters: of %d', (length, expected) => {
    const why = 'x'.repeat(length);
    const { headline } = conclude({ finished: { outcome: 'failed', why: length === 291 ? `${why}yz` : why } });
    expect(headline).toBe(expected);
  });

  it('keeps who stood in, however long the reason is', () => {
    const states = [stateOf('a', {}, { ...endedAs('done'), standIns: [STOOD] })];
    const { headline } = conclude({ states, given: { problem: LONG } });
    expect([headline.length, headline.endsWith('…; b stood in for a (ada)')]).toEqual([300, true]);
  });

  it('cuts a long note', () => {
    const noted = { flaky: [LONG], changed: [] };
    const { headline } = conclude({ facts: VERIFIED, states: [stateOf('a', {}, { ...endedAs('done'), noted })] });
    expect(headline.split('; ')[1]).toHaveLength(200);
  });
});

describe('the exit code and the reason of a run', () => {
  it.each<[string, About, 0 | 1, 0 | 1]>([
    ['verified', { facts: VERIFIED }, 0, 0],
    ['nothing checked', {}, 0, 1],
    ['a criterion left', { criteria: [LOOSE], facts: VERIFIED }, 0, 1],
    ['a criterion that was judged', { criteria: [LOOSE], facts: { looked: LOOKED }, verdicts: [verdict(true)] }, 0, 0],
    ['a task that was skipped', { facts: VERIFIED, states: [skipped('a', 'dana')] }, 0, 1],
    ['a remark', { facts: VERIFIED, finished: { outcome: 'done', why: '', remarks: ['x'] } }, 0, 1],
    [
      'checks that were changed',
      { facts: { ...VERIFIED, checkers: [{ ...GUARDED, protected: undefined }] as CheckerChange[] } },
      0,
      1,
    ],
    [
      'changed checks that a reviewer accepted',
      { facts: { ...VERIFIED, checkers: [{ ...GUARDED, accepted: ['rex'] }] } },
      0,
      0,
    ],
    [
      'checks of the base that fail',
      { facts: { ...VERIFIED, atBase: [ran('verify', true), ran('verify', false)] } },
      0,
      1,
    ],
    ['checks of the base that pass', { facts: { ...VERIFIED, atBase: [ran('verify', true)] } }, 0, 0],
    ['a failure', { finished: { outcome: 'failed', why: 'x' } }, 1, 1],
    ['a folder', { given: { made: 'team' } }, 0, 0],
  ])('%s: %d, and %d if it is strict', (_name, about, expected, strict) => {
    const codes = [false, true].map((one) => conclude({ ...about, given: { ...about.given, strict: one } }).exitCode);
    expect(codes).toEqual([expected, strict]);
  });

  it('names first what went wrong first', () => {
    const { why, outcome } = conclude({ finished: { outcome: 'failed', why: 'the end' }, states: [stalled] });
    expect([outcome, why]).toEqual(['failed', 's was skipped because its agent stalled: silent\nafter that: the end']);
    expect(conclude({ finished: { outcome: 'failed', why: 'the end' } }).why).toBe('the end');
  });

  it('is of an end as done what the playbook says', () => {
    expect(conclude({ facts: VERIFIED }).why).toBe('all is there');
    expect(conclude({ given: { made: 'team' } })).toMatchObject({ outcome: 'done', why: 'all is there' });
  });

  it.each<[string, TaskState[], 'done' | 'failed']>([
    ['of a playbook', [stateOf('a', {}, endedAs('failed'))], 'done'],
    [
      'of the engine that delivers nothing',
      [stateOf('a', { owner: 'engine', integrate: false }, endedAs('failed'))],
      'done',
    ],
    ['of the engine that is open', [stateOf('a', { owner: 'engine' })], 'done'],
    ['of the engine that is done', [stateOf('a', { owner: 'engine' }, endedAs('done'))], 'done'],
    ['of the engine', [stateOf('a', { owner: 'engine' }, endedAs('failed')), stalled], 'failed'],
  ])('follows from a failed task %s', (_name, states, outcome) => {
    expect(conclude({ states, facts: VERIFIED }).outcome).toBe(outcome);
  });

  it('has each failure on a line', () => {
    const states = [stateOf('a', { owner: 'engine', title: 'A' }, endedAs('failed')), stalled];
    expect(conclude({ states }).why).toBe('A: it failed\ns was skipped because its agent stalled: silent');
  });

  it('says what the reviewers said last, and where all of it is', () => {
    const rounds = [{ round: 1, commit: 'c', approved: false, feedback: 'bad', findings: [], by: [] }];
    const review = { by: ['reviewer'], quorum: 'all', rounds: 1, criteria: [] } as const;
    const state = stateOf(
      'a',
      { review: { ...review, by: ['reviewer'], criteria: [] } },
      { ...endedAs('failed', { cause: 'rejected' }), rounds },
    );
    const { headline } = conclude({ finished: { outcome: 'failed', why: 'no' }, states: [state] });
    expect(headline).toBe('FAILED, no; bad; all rounds: failures/a.md');
  });
});

it('counts the tasks that are done', () => {
  const states = [stateOf('a'), stateOf('b', {}, endedAs('done')), stateOf('c', {}, endedAs('failed'))];
  expect(countTasks(boardWith(states))).toEqual({ all: 3, done: 1 });
});

describe('the state of a criterion', () => {
  const unknown = { state: 'not-checked', by: null, evidence: null };
  const PROPOSED = { text: 'x', proposed: 'make' };
  it.each<[string, About, object]>([
    ['unknown', { criteria: [LOOSE] }, unknown],
    ['unknown before the gate', { criteria: [CHECKED], facts: null }, unknown],
    [
      'unknown at another commit',
      { criteria: [CHECKED], facts: { head: 'old', commands: [ran('criterion', true)] } },
      unknown,
    ],
    ['unknown, if only `verify` ran it', { criteria: [CHECKED], facts: { commands: [ran('verify', true)] } }, unknown],
    [
      'unknown, if another ran',
      { criteria: [CHECKED], facts: { commands: [ran('criterion', true, { run: 'x' })] } },
      unknown,
    ],
    [
      'proposed',
      { criteria: [PROPOSED] },
      { ...unknown, evidence: 'make: proposed by an agent; no person agreed to run it' },
    ],
    [
      'met',
      { criteria: [CHECKED], facts: { commands: [ran('criterion', true)] } },
      { state: 'met', by: 'engine', evidence: 'npm test: exited with 0' },
    ],
    [
      'failed',
      { criteria: [CHECKED], facts: { commands: [ran('criterion', false)] } },
      { state: 'failed', by: 'engine', evidence: 'npm test: failed: it is red' },
    ],
    [
      'failed in silence',
      { criteria: [CHECKED], facts: { commands: [ran('criterion', false, { output: ' \n' })] } },
      { state: 'failed', evidence: 'npm test: failed' },
    ],
    [
      'not to be run',
      { criteria: [CHECKED], facts: { commands: [ran('criterion', false, { cannotRun: 'gone' })] } },
      { ...unknown, evidence: 'its command cannot run: `npm test`: gone' },
    ],
    [
      'judged',
      { criteria: [LOOSE], facts: { looked: LOOKED }, verdicts: [verdict(true)] },
      { state: 'judged', by: 'rex', evidence: 'a.js:3 at base has “it is there”: it says so' },
    ],
    [
      'denied',
      { criteria: [LOOSE], facts: null, verdicts: [verdict(false, { evidence: null })] },
      { state: 'failed', by: 'rex', evidence: 'it says so' },
    ],
    [
      'denied, of a file',
      { criteria: [LOOSE], verdicts: [verdict(false)] },
      { state: 'failed', evidence: 'a.js:3 at base: “it is there” (not looked up): it says so' },
    ],
    ['unknown, if its file was not looked for', { criteria: [LOOSE], facts: null, verdicts: [verdict(true)] }, unknown],
    ['a protected path: unknown', { facts: { checkers: [GUARDED] } }, unknown],
    [
      'a protected path: judged',
      { facts: { checkers: [GUARDED] }, verdicts: [verdict(true)] },
      { state: 'judged', by: 'rex', evidence: 'it says so' },
    ],
    [
      'a protected path: denied',
      { facts: { checkers: [GUARDED] }, verdicts: [verdict(false)] },
      { state: 'failed', by: 'rex' },
    ],
    [
      'a protected path: accepted',
      { facts: { checkers: [{ ...GUARDED, accepted: ['rex', 'sue'] }] } },
      { state: 'judged', by: 'rex, sue', evidence: 'accepted in review' },
    ],
  ])('%s', (_name, about, expected) => expect(criteriaOf(boardOf(about))).toMatchObject([expected]));

  it('of a protected path comes after those of the objective', () => {
    const about = { criteria: [CHECKED], facts: { checkers: [GUARDED] }, verdicts: [verdict(true, { criterion: 1 })] };
    expect(criteriaOf(boardOf(about)).map(({ state }) => state)).toEqual(['not-checked', 'judged']);
    expect(criteriaOf(boardOf({ facts: { head: 'old', checkers: [GUARDED] } }))).toEqual([]);
  });
});
