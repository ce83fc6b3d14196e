import { expect, test } from 'vitest';
import { renderRuns } from '../../../src/cli/render/runs-table.ts';
import { COLOURED, PLAIN } from '../../../src/cli/render/style.ts';
import type { RunSummary } from '../../../src/view/run-summary.ts';

const NOW = 1_800_000_000_000;

function run(more: Partial<RunSummary>): RunSummary {
  return {
    runId: 'id',
    name: 'tidy',
    parent: null,
    objective: 'Tidy up',
    source: 'objective.md',
    playbook: 'delivery',
    createdAt: NOW - 7_200_000,
    deadline: null,
    state: 'done',
    headline: 'DONE, all work is delivered and verified',
    tasks: { all: 4, done: 4 },
    stage: null,
    elapsedMs: 240_000,
    usage: { inputTokens: 1, outputTokens: 1, costUsd: 1.5, unknownTurns: 0, unknownCostTurns: 0 },
    need: null,
    why: null,
    ...more,
  };
}

const open = { headline: null, tasks: { all: 3, done: 1 } } as const;
const usage = { inputTokens: 1, outputTokens: 1, unknownTurns: 0 };

test.each<[string, Partial<RunSummary>, RegExp]>([
  ['a finished run', {}, /^tidy +done +2 h +4 min +USD 1\.50 +4\/4 +all work is delivered and verified$/],
  [
    'a running one by its objective',
    { ...open, state: 'running', need: 'driven', why: 'an engine drives it' },
    /1\/3 +Tidy up$/,
  ],
  [
    'a stopped one by its reason',
    { ...open, state: 'stopped', need: 'limited', why: 'usd: 5 of 5 used' },
    /stopped .*usd: 5 of 5 used$/,
  ],
  [
    'a deadline that is to come',
    { ...open, state: 'running', need: 'driven', deadline: NOW + 60_000 },
    /Tidy up \(deadline \d\d:\d\d\)$/,
  ],
  [
    'a run that works past its deadline',
    { ...open, state: 'running', need: 'driven', deadline: NOW - 1 },
    /Tidy up \(deadline passed\)$/,
  ],
  [
    'a run that stopped at its deadline',
    { ...open, state: 'stopped', need: 'limited', why: 'the deadline has passed', deadline: NOW },
    /the deadline has passed$/,
  ],
  ['a run that ended before its deadline', { deadline: NOW + 60_000 }, /delivered and verified$/],
  [
    'a fork by its parent',
    { parent: { runId: 'p', name: 'mess', seq: 7 } },
    /fork of mess: all work is delivered and verified$/,
  ],
  ['a cost that nobody knows', { usage: { ...usage, costUsd: null, unknownCostTurns: 9 } }, / unknown +4\/4 /],
  ['a cost that is known in part', { usage: { ...usage, costUsd: 1, unknownCostTurns: 2 } }, /USD 1\.00\+ /],
  ['text that a terminal would obey', { headline: 'FAILED, \u001b[2Jgone\u202e' }, / gone\\u202e$/],
])('shows %s', (_title, more, expected) => {
  const [head, line] = renderRuns([run(more)], { now: NOW, columns: undefined, style: PLAIN });
  expect(head).toMatch(/^run +state +started +took +cost +tasks +outcome$/);
  expect(line).toMatch(expected);
});

test('shows the stage of runs that have some', () => {
  const stage = { id: 'SPEC_\u001b[2JREVIEW', place: 4, of: 13 };
  const lines = renderRuns([run({ stage }), run({})], { now: NOW, columns: undefined, style: PLAIN });
  expect(lines[0]).toMatch(/ tasks +stage +outcome$/);
  expect(lines[1]).toMatch(/ 4\/4 +SPEC_REVIEW 4\/13 +all work/);
  expect(lines[2]).toMatch(/ 4\/4 +all work/);
});

test('says where there is none', () => {
  expect(renderRuns([], { now: NOW, columns: 80, style: PLAIN })).toEqual([
    'There is no run here yet. Start one: squad run objective.md',
  ]);
});

test('fits a terminal and keeps to its colours', () => {
  const [, plain = ''] = renderRuns([run({})], { now: NOW, columns: 60, style: PLAIN });
  expect(plain.length).toBeLessThanOrEqual(60);
  expect(renderRuns([run({})], { now: NOW, columns: 60, style: COLOURED })[1]).toContain('\u001b[32mdone');
});
