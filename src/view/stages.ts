import { createView } from '../rules/view.ts';
import type { Board } from '../model/plan/board.ts';
import type { Playbooks, StageView } from '../model/plan.ts';
import type { RunDefinition } from '../model/run.ts';
import { stageViews } from '../playbooks/stages/stage-views.ts';
import type { Totals } from '../substrate/ports/ledger.ts';
import type { RunEvent } from '../model/run-event.ts';
import { shownStage, stagesAtRest, type ShownStage } from '../model/shown-stage.ts';
import type { Base } from './event-base.ts';

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
  let before: {
    readonly views: readonly StageView[];
    readonly shown: readonly ShownStage[];
    readonly isOver: boolean;
  } = { views: [], shown: [], isOver: false };
  return (board) => {
    const now = views(createView(board));
    const isOver = board.finished !== null;
    // A view that stayed as it was is shown by the same object.
    const known = isOver === before.isOver ? before : undefined;
    const shown = now.map((view, index) => {
      const last = view === known?.views[index] ? known.shown[index] : undefined;
      return last ?? atEnd(shownStage(view), isOver);
    });
    before = { views: now, shown, isOver };
    return shown;
  };
}

/** A stage that waits when the run ends is shown as cancelled. A retry that reopens the run lets it wait again. */
function atEnd(stage: ShownStage, isOver: boolean): ShownStage {
  return isOver && stage.state === 'waiting' ? { ...stage, state: 'cancelled' } : stage;
}

/** As `squad status` and the report show them. */
export function stagesNow({
  stages,
  driven,
  totals,
}: {
  readonly stages: readonly ShownStage[];
  readonly driven: boolean;
  readonly totals: Pick<Totals, 'turnsLive'>;
}): readonly ShownStage[] {
  return driven || totals.turnsLive > 0 ? stages : stagesAtRest(stages);
}

/** The most important change of a stage. `agents`: its agents or tasks, or any other field. undefined: none. */
export function changeOf(before: ShownStage | undefined, after: ShownStage): 'state' | 'rounds' | 'agents' | undefined {
  if (before === after) return undefined;
  if (before?.state !== after.state) return 'state';
  if (before.round?.taken !== after.round?.taken || before.round?.cap !== after.round?.cap) return 'rounds';
  return JSON.stringify(before) === JSON.stringify(after) ? undefined : 'agents';
}

/** The stages that have changed. */
export function stageEvents(base: Base, before: readonly ShownStage[], after: readonly ShownStage[]): RunEvent[] {
  const old = new Map(before.map((stage) => [stage.id, stage]));
  return after.flatMap((stage, index): RunEvent[] => {
    const change = changeOf(old.get(stage.id), stage);
    const place = { place: index + 1, of: after.length };
    return change === undefined ? [] : [{ type: 'stage-changed', ...base, stage, ...place, change }];
  });
}
