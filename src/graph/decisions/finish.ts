import type { TaskState } from '../../model/plan/board.ts';
import { CLOSED_GATE } from '../../model/plan/gate.ts';
import type { NewTask } from '../../model/plan/task.ts';
import { workOn, type Draft } from './board.ts';
import { newWork } from './work.ts';
import { isEnded } from './work-status.ts';

/** The end of a run as failed needs no look at the branch. What still runs is cancelled first. */
export function finishFailed(draft: Draft, why: string): void {
  cancelOpen(draft, why, draft.tasks.open);
  draft.finished = { outcome: 'failed', why };
}

/**
 * A playbook proposes the end; the engine lets the run end as done once it has checked the run branch. What the engine itself
 * has to deliver, and no playbook knows of, is delivered first.
 */
export function proposeDone(draft: Draft, why: string): void {
  if (draft.gate.at !== 'idle') return;
  cancelOpen(
    draft,
    why,
    draft.tasks.open.filter(({ task }) => task.owner !== 'engine'),
  );
  draft.gate = { ...draft.gate, at: 'checking', why };
}

/** There is more to do: what was checked so far is about a state that will pass. */
export function voidGate(draft: Draft): void {
  const { judge, refused } = draft.gate;
  draft.gate = { ...CLOSED_GATE, refused };
  if (judge !== null) workOn(draft, judge, { type: 'settle-asked', as: 'cancelled', why: 'there is more work to do' });
}

/** A task of the engine's own, which no playbook planned. `make` gets its id. */
export function addEngineTask(draft: Draft, stem: string, make: (id: string) => NewTask): string {
  let id = stem;
  for (let number = 2; draft.tasks.has(id); number += 1) id = `${stem}-${number}`;
  draft.tasks = draft.tasks.with({ task: make(id), order: draft.tasks.size, depth: 0, work: newWork() });
  return id;
}

function cancelOpen(draft: Draft, why: string, tasks: readonly TaskState[]): void {
  for (const state of tasks) {
    if (isEnded(state)) continue;
    workOn(draft, state.task.id, { type: 'settle-asked', as: 'cancelled', why: `the run has ended: ${why}` });
  }
}
