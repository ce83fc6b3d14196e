import { createView } from '../graph/decisions/view.ts';
import type { Board } from '../model/plan/board.ts';
import type { Playbooks, StageView } from '../model/plan.ts';
import type { RunDefinition } from '../model/run.ts';
import { stageViews } from '../playbooks/stages/stage-views.ts';
import { shownStage, type ShownStage } from '../model/shown-stage.ts';

/** The stages of a run as its board has them; empty: there are none. */
export type StagesOf = (board: Board) => readonly ShownStage[];

/**
 * `own`: playbooks of an application. Those of squad are not made for it: only a list of stages has any, and making one takes long.
 * undefined: the playbook of this run knows no stages.
 */
export function stagesOfRun(
  { playbook }: Pick<RunDefinition, 'playbook' | 'options'>,
  own: Playbooks,
): StagesOf | undefined {
  const made = Object.hasOwn(own, playbook) ? own[playbook]?.() : undefined;
  const views = made === undefined ? stageViews : made.stages?.bind(made);
  if (views === undefined) return undefined;
  let before: { readonly views: readonly StageView[]; readonly shown: readonly ShownStage[] } = {
    views: [],
    shown: [],
  };
  return (board) => {
    const now = views(createView(board));
    // A view that stayed as it was is shown by the same object.
    const shown = now.map((view, index) => (view === before.views[index] && before.shown[index]) || shownStage(view));
    before = { views: now, shown };
    return shown;
  };
}

/** What is new of a stage. `agents`: who is at work in it, or its tasks. undefined: nothing. */
export function changeOf(before: ShownStage | undefined, after: ShownStage): 'state' | 'rounds' | 'agents' | undefined {
  if (before === after) return undefined;
  if (before?.state !== after.state) return 'state';
  if (before.round?.taken !== after.round?.taken || before.round?.cap !== after.round?.cap) return 'rounds';
  return JSON.stringify(before) === JSON.stringify(after) ? undefined : 'agents';
}
