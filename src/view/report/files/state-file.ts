import { criteriaOf } from '../../../rules/conclude.ts';
import type { StageView } from '../../../model/plan.ts';
import type { Board } from '../../../model/plan/board.ts';
import type { RunState } from '../../../model/run-state.ts';
import { currentStage } from '../../../model/shown-stage.ts';
import { defined } from '../../../text/defined.ts';
import { plainJsonText } from '../../../text/plain-text.ts';
import { isoTime } from '../../../text/time.ts';
import { isTicked } from './checklist-file.ts';
import type { RunFile } from './run-file.ts';

/** Facts of `state.json` that are not in the plan. Times in epoch ms, durations in ms. */
export interface StateFacts {
  /** As it was named at the start. */
  readonly objectiveFile: string;
  readonly startedAt: number;
  /** Engine time. */
  readonly elapsedMs: number;
  readonly mostMs: number;
  readonly state: RunState;
  /** The copies of delivered documents. Paths from the root of the repository. */
  readonly artifacts: readonly { readonly name: string; readonly path: string }[];
}

/** As docs/run-files.md lists them. A run that can go on, with no engine at work, is `paused`. */
const STATUS: Readonly<Record<RunState, 'running' | 'paused' | 'completed' | 'failed'>> = {
  preparing: 'running',
  running: 'running',
  waiting: 'paused',
  stopped: 'paused',
  interrupted: 'paused',
  done: 'completed',
  failed: 'failed',
  cancelled: 'failed',
};

/** `state.json`: where a run with stages is, in names that other programs know. */
export function stateFile(
  board: Pick<Board, 'facts' | 'gate' | 'branch'>,
  stages: readonly StageView[],
  facts: StateFacts,
): RunFile {
  const state = {
    objective_file: facts.objectiveFile,
    objective_title: board.facts.objective.title,
    started_at: isoTime(facts.startedAt),
    elapsed_seconds: Math.floor(facts.elapsedMs / 1000),
    max_seconds: Math.floor(facts.mostMs / 1000),
    current_stage: currentStage(stages)?.stage.id ?? null,
    stage_history: stages.flatMap(historyOf),
    review_iterations: Object.fromEntries(
      stages.flatMap(({ id, round }) => (round === undefined ? [] : [[id, round.taken]])),
    ),
    success_criteria_status: criteriaStatus(board),
    artifacts: artifactsOf(facts.artifacts),
    status: STATUS[facts.state],
  };
  return { path: 'state.json', text: `${plainJsonText(state, 2)}\n` };
}

function historyOf({ id, state, startedAt, endedAt }: StageView) {
  if (startedAt === undefined) return [];
  const ended = endedAt === undefined ? undefined : isoTime(endedAt);
  return [defined({ stage: id, status: state, started_at: isoTime(startedAt), ended_at: ended })];
}

/** By their names without the ending, as long as that is one document's alone. */
function artifactsOf(artifacts: StateFacts['artifacts']): Record<string, string> {
  const stems = Map.groupBy(artifacts, ({ name }) => name.replace(/\.[^.]*$/, ''));
  return Object.fromEntries(
    [...stems].flatMap(([stem, all]) => all.map(({ name, path }) => [all.length === 1 ? stem : name, path])),
  );
}

/** Criteria with equal text count as met only if all are. */
function criteriaStatus(board: Parameters<typeof criteriaOf>[0]): Record<string, boolean> {
  const texts = Map.groupBy(criteriaOf(board), ({ text }) => text);
  return Object.fromEntries([...texts].map(([text, all]) => [text, all.every(({ state }) => isTicked(state))]));
}
