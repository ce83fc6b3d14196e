import { applyChanges } from '../rules/apply-changes.ts';
import { createBoard } from '../rules/board.ts';
import { changePlan } from '../rules/plan-step.ts';
import { factsOf } from '../rules/run-facts.ts';
import { createView } from '../rules/view.ts';
import { renderAuthorPrompt } from '../rules/prompts/author-prompt.ts';
import { backgroundOf, renderRun } from '../rules/prompts/render-order.ts';
import { renderReviewPrompt } from '../rules/prompts/review-prompt.ts';
import { equipmentOf } from '../model/armory-facts.ts';
import type { Playbook } from '../model/plan.ts';
import type { Board, TaskState } from '../model/plan/board.ts';
import { reviewRoles } from '../model/plan/task.ts';
import type { RunDefinition } from '../model/run.ts';
import { addTask } from '../playbooks/shared/tasks.ts';
import { defined } from '../text/defined.ts';

/** Instructions and prompts that agents will get, shown before any of them starts. */
export interface RunPrompts {
  readonly agents: readonly {
    readonly name: string;
    readonly role: string;
    readonly runtime: string;
    readonly model?: string;
    /** Skills, servers and other equipment from the settings, in words. */
    readonly equipment?: string[];
    readonly instructions: string;
  }[];
  /** The first prompt of each role; `<…>` stands for what only the plan or the work can say. */
  readonly prompts: readonly { readonly role: string; readonly about: string; readonly prompt: string }[];
}

const MOMENT = { seq: 0, at: 0 };

/** The instructions and the first prompts of a run that has not begun. */
export function promptsOf(playbook: Playbook<unknown>, definition: RunDefinition): RunPrompts {
  const board = plannedIn(playbook, definition);
  const all = [...board.tasks.values()].flatMap((state) =>
    promptsOfTask(state, definition, { board, background: backgroundOf({ board, playbook }, state.task.id) }),
  );
  return {
    agents: definition.agents.map((agent) => {
      const { name, role, runtime, model, instructions } = agent;
      return { name, role, runtime, instructions, ...defined({ model, equipment: equipmentOf(agent) }) };
    }),
    prompts: all.filter(({ role }, index) => all.findIndex((one) => one.role === role) === index),
  };
}

/** The first tasks of the playbook, then those of an example of its plan. */
function plannedIn(playbook: Playbook<unknown>, definition: RunDefinition): Board {
  const facts = factsOf(definition);
  const parsed = playbook.parse(facts);
  // The preflight has parsed it already.
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  const { board } = changePlan(createBoard(facts), playbook, playbook.plan(parsed.input), MOMENT);
  return withExample(board, playbook);
}

function withExample(board: Board, { planning }: Playbook<unknown>): Board {
  const view = createView(board);
  const example = planning?.example?.(view);
  const reading = example === undefined ? undefined : planning?.read(view, example);
  return reading?.ok === true ? applyChanges(board, reading.tasks.map(addTask), MOMENT).board : board;
}

function promptsOfTask(
  state: TaskState,
  definition: RunDefinition,
  { board, background }: { readonly board: Board; readonly background: string },
): RunPrompts['prompts'] {
  const { task } = state;
  const changed = definition.prompts ?? {};
  const run = renderRun(definition, board);
  const about = { state, run, changed, prompt: { why: 'start' }, resumed: false } as const;
  const author = {
    role: task.role,
    about: task.title,
    prompt: renderAuthorPrompt({
      ...about,
      ...{ delivered: [], neighbours: [], background, baseline: '' },
      commits: definition.agents.find(({ role }) => role === task.role)?.commits !== false,
      minutes: definition.limits.turnMinutes,
    }),
  };
  const review = renderReviewPrompt({ ...about, commit: '<commit>', since: '<commit before>' });
  const reviewers = reviewRoles(task).map((role) => ({ role, about: `Review of ${task.title}`, prompt: review }));
  return [...(task.kind === 'work' ? [author] : []), ...reviewers];
}
