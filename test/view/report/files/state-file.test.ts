import { expect, it } from 'vitest';
import { createBoard } from '../../../../src/rules/board.ts';
import { factsOf } from '../../../../src/rules/run-facts.ts';
import type { StageView } from '../../../../src/model/plan.ts';
import type { RunState } from '../../../../src/model/run-state.ts';
import { stateFile } from '../../../../src/view/report/files/state-file.ts';
import { definition } from '../support.ts';

const AT = Date.UTC(2026, 0, 29, 8);
const CRITERION = { done: true, line: 1 };
const BOARD = createBoard(
  factsOf(
    definition({
      title: 'Implement User Authentication',
      criteria: [
        { ...CRITERION, text: 'Tokens expire' },
        { ...CRITERION, text: '__proto__' },
      ],
    }),
  ),
);
const FACTS = {
  objectiveFile: 'objectives/auth.md',
  startedAt: AT,
  elapsedMs: 9_255_900,
  mostMs: 28_800_000,
  state: 'running' as RunState,
  artifacts: [],
};

function stage(id: string, state: StageView['state'], more: Partial<StageView> = {}): StageView {
  return { id, title: id, state, by: [], tasks: [], ...more };
}

function stateOf(stages: readonly StageView[], more: Partial<typeof FACTS> & { artifacts?: readonly object[] } = {}) {
  const { path, text } = stateFile(BOARD, stages, { ...FACTS, ...more });
  expect(path).toBe('state.json');
  return JSON.parse(text) as Record<string, unknown>;
}

const REVIEW = stage('SPEC_REVIEW', 'live', { startedAt: AT + 3_000, round: { taken: 2, cap: 4 } });

it('has the form that the specification gives it', () => {
  const stages = [
    stage('SPEC', 'done', { startedAt: AT, endedAt: AT + 2_500 }),
    REVIEW,
    stage('PLAN_REVIEW', 'waiting', { round: { taken: 0, cap: 4 } }),
  ];
  const artifacts = [
    { name: 'feature_spec.md', path: '.squad/runs/1/artifacts/feature_spec.md' },
    { name: 'notes.md', path: 'a' },
    { name: 'notes.txt', path: 'b' },
  ];
  expect(stateOf(stages, { artifacts: artifacts as never })).toEqual({
    objective_file: 'objectives/auth.md',
    objective_title: 'Implement User Authentication',
    started_at: '2026-01-29T08:00:00.000Z',
    elapsed_seconds: 9255,
    max_seconds: 28_800,
    current_stage: 'SPEC_REVIEW',
    stage_history: [
      { stage: 'SPEC', status: 'done', started_at: '2026-01-29T08:00:00.000Z', ended_at: '2026-01-29T08:00:02.500Z' },
      { stage: 'SPEC_REVIEW', status: 'live', started_at: '2026-01-29T08:00:03.000Z' },
    ],
    review_iterations: { SPEC_REVIEW: 2, PLAN_REVIEW: 0 },
    success_criteria_status: { 'Tokens expire': false, ['__proto__']: false },
    artifacts: { feature_spec: '.squad/runs/1/artifacts/feature_spec.md', 'notes.md': 'a', 'notes.txt': 'b' },
    status: 'running',
  });
});

it.each([
  ['preparing', 'running'],
  ['running', 'running'],
  ['waiting', 'paused'],
  ['stopped', 'paused'],
  ['interrupted', 'paused'],
  ['done', 'completed'],
  ['failed', 'failed'],
] as const)('calls a run that is %s %s', (state, status) => {
  expect(stateOf([REVIEW], { state })).toMatchObject({ status });
});

it.each([
  [[stage('A', 'done'), stage('B', 'live'), stage('C', 'failed')], 'B'],
  [[stage('A', 'done'), stage('B', 'failed'), stage('C', 'waiting')], 'B'],
  [[stage('A', 'done'), stage('B', 'waiting'), stage('C', 'waiting')], 'B'],
  [[stage('A', 'done'), stage('B', 'skipped')], 'B'],
])('names the stage that the run is at: %#', (stages, current) => {
  expect(stateOf(stages)).toMatchObject({ current_stage: current });
});
