import type { RunState } from '../../../model/run-state.ts';
import { currentStage, type ShownStage } from '../../../model/shown-stage.ts';
import { defined } from '../../../text/defined.ts';
import { plainJsonText } from '../../../text/plain-text.ts';
import { isoTime } from '../../../text/time.ts';
import type { RunView } from '../../run-view.ts';
import { isTicked, type CheckedView } from './checklist-file.ts';
import type { RunFile } from './run-file.ts';

type Stage = Pick<ShownStage, 'id' | 'state' | 'round' | 'startedAt' | 'endedAt'>;

/** The part of a `RunView` that the file shows: an engine knows it without reading its ledger again. */
export interface StateView extends CheckedView {
  readonly run: CheckedView['run'] & Pick<RunView['run'], 'runId' | 'source' | 'startedAt' | 'state'>;
  readonly stages: readonly Stage[];
  readonly use: Pick<RunView['use'], 'elapsedMs' | 'limits'>;
  readonly questions: RunView['questions'];
}

/** As docs/run-files.md lists them. A run that can go on, with no engine at work, is `paused`. */
const STATUS: Readonly<Record<RunState, 'running' | 'paused' | 'completed' | 'failed'>> = {
  queued: 'paused',
  preparing: 'running',
  running: 'running',
  waiting: 'paused',
  stopped: 'paused',
  interrupted: 'paused',
  done: 'completed',
  failed: 'failed',
  cancelled: 'failed',
};

/** `state.json`: where a run with stages is, in names that other programs know. `copied`: names of delivered documents. */
export function stateFile({ run, plan, stages, use, questions }: StateView, copied: readonly string[]): RunFile {
  const state = {
    objective_file: run.source,
    objective_title: run.objective,
    started_at: isoTime(run.startedAt),
    elapsed_seconds: Math.floor(use.elapsedMs / 1000),
    max_seconds: Math.floor(use.limits.minutes * 60),
    current_stage: currentStage(stages)?.stage.id ?? null,
    stage_history: stages.flatMap(historyOf),
    review_iterations: Object.fromEntries(
      stages.flatMap(({ id, round }) => (round === undefined ? [] : [[id, round.taken]])),
    ),
    success_criteria_status: criteriaStatus(plan.criteria),
    artifacts: artifactsOf(copied, `.squad/runs/${run.runId}/artifacts`),
    status: STATUS[run.state],
    ...(questions.length === 0 ? {} : { open_questions: questions }),
  };
  return { path: 'state.json', text: `${plainJsonText(state, 2)}\n` };
}

function historyOf({ id, state, startedAt, endedAt }: Stage) {
  if (startedAt === undefined) return [];
  const ended = endedAt === undefined ? undefined : isoTime(endedAt);
  return [defined({ stage: id, status: state, started_at: isoTime(startedAt), ended_at: ended })];
}

/** By their names without the ending, as long as that is one document's alone. */
function artifactsOf(copied: readonly string[], folder: string): Record<string, string> {
  const stems = Map.groupBy(copied, (name) => name.replace(/\.[^.]*$/, ''));
  return Object.fromEntries(
    [...stems].flatMap(([stem, all]) => all.map((name) => [all.length === 1 ? stem : name, `${folder}/${name}`])),
  );
}

/** Criteria with equal text count as met only if all are. */
function criteriaStatus(criteria: StateView['plan']['criteria']): Record<string, boolean> {
  const texts = Map.groupBy(criteria, ({ text }) => text);
  return Object.fromEntries([...texts].map(([text, all]) => [text, all.every(({ state }) => isTicked(state))]));
}
