import type { TaskState } from '../model/plan/board.ts';
import { defined } from '../text/defined.ts';
import { CLOSED_GATE } from '../model/plan/gate.ts';
import type { NewTask } from '../model/plan/task.ts';
import { addState, workOn, type Draft } from './board.ts';
import { isEnded } from './work-status.ts';

/** Ends the run without a check of the branch, as failed or because a person cancelled it. Cancels open tasks first. */
export function finishFailed(draft: Draft, why: string, outcome: 'failed' | 'cancelled' = 'failed'): void {
  cancelOpen(draft, why, draft.tasks.open);
  draft.finished = { outcome, why };
}

/**
 * Applies a playbook's proposal to end the run as done. The run ends once the engine has checked the run branch and delivered its
 * own integration tasks, which no playbook sees.
 */
export function proposeDone(draft: Draft, why: string, remarks: readonly string[] = []): void {
  if (draft.gate.at !== 'idle') return;
  cancelOpen(
    draft,
    why,
    draft.tasks.open.filter(({ task }) => task.owner !== 'engine'),
  );
  const { remarks: _, ...gate } = draft.gate;
  draft.gate = { ...gate, at: 'checking', why, ...(remarks.length === 0 ? {} : { remarks }) };
}

/** Discards the check of the run branch, because more work will change the branch. */
export function voidGate(draft: Draft): void {
  const { judge, refused, recorded, problems, noted } = draft.gate;
  draft.gate = { ...CLOSED_GATE, refused, recorded, ...defined({ problems, noted }) };
  if (judge !== null) workOn(draft, judge, { type: 'settle-asked', as: 'cancelled', why: 'there is more work to do' });
}

/** Adds a task that no playbook planned. `make` gets its id. */
export function addEngineTask(draft: Draft, stem: string, make: (id: string) => NewTask): string {
  let id = stem;
  for (let number = 2; draft.tasks.has(id); number += 1) id = `${stem}-${number}`;
  addState(draft, make(id), 0);
  return id;
}

function cancelOpen(draft: Draft, why: string, tasks: readonly TaskState[]): void {
  for (const state of tasks) {
    if (isEnded(state)) continue;
    workOn(draft, state.task.id, { type: 'settle-asked', as: 'cancelled', why: `the run has ended: ${why}` });
  }
}
