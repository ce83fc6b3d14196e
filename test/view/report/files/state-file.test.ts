import { expect, it } from 'vitest';
import type { StageView } from '../../../../src/model/plan.ts';
import type { RunState } from '../../../../src/model/run-state.ts';
import { limitsSchema } from '../../../../src/model/limits.ts';
import { stateFile } from '../../../../src/view/report/files/state-file.ts';

const AT = Date.UTC(2026, 0, 29, 8);
const LIMITS = limitsSchema.parse({ minutes: 480 });
const RUN = {
  ...{ runId: '1', objective: 'Implement User Authentication', source: 'objectives/auth.md', startedAt: AT },
  state: 'running' as RunState,
};
const CRITERIA = ['Tokens expire', '__proto__'].map((text) => {
  return { text, state: 'not-checked' as const, by: null, evidence: null };
});

function stage(id: string, state: StageView['state'], more: Partial<StageView> = {}): StageView {
  return { id, title: id, state, by: [], tasks: [], ...more };
}

const QUESTION = { id: 'plan-1', text: 'Approve the plan?', options: ['approve', 'stop'] };

function stateOf(
  stages: readonly StageView[],
  copied: readonly string[] = [],
  state = RUN.state,
  questions: readonly (typeof QUESTION)[] = [],
) {
  const use = { elapsedMs: 9_255_900, limits: LIMITS };
  const { path, text } = stateFile(
    { run: { ...RUN, state }, plan: { criteria: CRITERIA }, stages, use, questions: [...questions] },
    copied,
  );
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
  const folder = '.squad/runs/1/artifacts';
  expect(stateOf(stages, ['feature_spec.md', 'notes.md', 'notes.txt'])).toEqual({
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
    artifacts: {
      ...{ feature_spec: `${folder}/feature_spec.md`, 'notes.md': `${folder}/notes.md` },
      'notes.txt': `${folder}/notes.txt`,
    },
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
  expect(stateOf([REVIEW], [], state)).toMatchObject({ status });
});

it.each([
  [[stage('A', 'done'), stage('B', 'live'), stage('C', 'failed')], 'B'],
  [[stage('A', 'done'), stage('B', 'failed'), stage('C', 'waiting')], 'B'],
  [[stage('A', 'done'), stage('B', 'waiting'), stage('C', 'waiting')], 'B'],
  [[stage('A', 'done'), stage('B', 'skipped')], 'B'],
])('names the stage that the run is at: %#', (stages, current) => {
  expect(stateOf(stages)).toMatchObject({ current_stage: current });
});

it('has the open questions', () => {
  expect(stateOf([REVIEW], [], 'waiting', [QUESTION])).toMatchObject({ status: 'paused', open_questions: [QUESTION] });
});
