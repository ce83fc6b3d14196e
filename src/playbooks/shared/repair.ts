import { defined } from '../../text/defined.ts';
import type { TaskView, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { addTask, failRun, workTask } from './tasks.ts';

type Refused = Extract<PlaybookEvent, { type: 'gate-refused' }>;

/** Repairs that a run may plan. A later refusal ends it. */
const MOST_REPAIRS = 2;

/** A repair of the merged work, before it becomes a task. */
export interface Repair {
  readonly id: string;
  readonly title: string;
  readonly brief: string;
  /** One entry for each problem. */
  readonly problems: readonly string[];
}

export function repairOf(view: View, event: Refused): Repair | undefined {
  if (event.refused > MOST_REPAIRS) return undefined;
  const asked = event.from === 'pull-request';
  return {
    id: freshFix(view),
    title: asked ? 'Do what the pull request needs' : 'Fix the merged work',
    brief: renderPrompt(
      asked ? 'fixer/pull-request' : 'fixer/first',
      { problems: event.problems.join('\n'), ...deliveredIn(view) },
      view.prompts,
    ),
    problems: event.problems,
  };
}

/** More would crowd out the problems. */
const MOST_NAMED = 12;

/** The work that is on the run branch, in its order, and the earlier repairs among it. */
function deliveredIn(view: View): { readonly merged: string[]; readonly attempts: string[] } {
  const delivered = view
    .tasks({ status: 'done', kind: 'work' })
    .filter(({ integrate, commit }) => integrate && commit !== undefined)
    .toSorted((one, other) => (one.at.ended ?? 0) - (other.at.ended ?? 0));
  const lines = (some: typeof delivered): string[] =>
    some.slice(-MOST_NAMED).map(({ id, title, commit = '' }) => `${id} (“${title}”): ${commit.slice(0, 12)}`);
  const isRepair = ({ id }: { readonly id: string }): boolean => FIX.test(id);
  return { merged: lines(delivered.filter((one) => !isRepair(one))), attempts: lines(delivered.filter(isRepair)) };
}

const FIX = /^fix-\d+$/;

/** A problem of the merged work as what is true once it is fixed. */
export function doneWithout(problem: string): string {
  const [line = ''] = problem.split('\n');
  const [, command] = /^\w+: `(.+)` /.exec(line) ?? [];
  if (command !== undefined) return `\`${command}\` exits with 0`;
  const [, criterion] = /^criterion “(.+)” is not met, says /.exec(line) ?? [];
  return criterion === undefined ? `this is fixed: ${line}` : `this is true: ${criterion}`;
}

/** A new id. After an operator's command the refusals count from 1 again, but earlier repairs remain in the plan. */
function freshFix(view: View): string {
  for (let number = 1; ; number += 1) {
    const id = `fix-${number}`;
    if (view.task(id) === undefined) return id;
  }
}

/**
 * Plans the repair for the agent that delivered last, in its session: the last one that may change all files, if there is one. Who
 * answers questions may change documents alone. `otherwise`: the work that was delivered by a task of the engine.
 */
export function repairByLastAuthor(view: View, event: Refused, otherwise?: TaskView): PlanChange[] {
  const repair = repairOf(view, event);
  const delivered = view
    .tasks({ status: 'done', kind: 'work' })
    .filter(({ integrate, commit }) => integrate && commit !== undefined)
    .toSorted((one, other) => (one.at.ended ?? 0) - (other.at.ended ?? 0));
  const last =
    delivered.findLast(({ requires }) => requires.every(({ kind }) => kind !== 'only')) ??
    delivered.at(-1) ??
    otherwise;
  if (repair === undefined || last === undefined) {
    return [failRun(event.problems.join('\n'))];
  }
  const { id, title, brief, problems } = repair;
  const { role, review, doneBy, workspace, integrate } = last;
  // A comment may be a question, a check may have failed for a reason of its own, and the pull request is there.
  const isOpen = event.from !== undefined;
  const requires = isOpen
    ? last.requires.filter(({ kind }) => !['commit', 'diff', 'pr'].includes(kind))
    : last.requires;
  const more = defined({ agent: doneBy, review: review && { ...review, criteria: problems.map(doneWithout) } });
  const session = { of: last.id };
  return [
    addTask(
      workTask(
        { id, title, role, brief },
        { session, workspace, integrate, requires, ...more, ...(isOpen ? { mayChangeNothing: true } : {}) },
      ),
    ),
  ];
}
