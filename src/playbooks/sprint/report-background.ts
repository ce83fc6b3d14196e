import type { TaskView, View } from '../../model/plan.ts';
import { fenceTag } from '../../text/fence.ts';
import { plainLine } from '../../text/plain-text.ts';
import { stageTask } from '../stages/stage-records.ts';
import { todoViews } from './todo-views.ts';

const MOST = 40_000;

/** The end of each todo, for the planner that reports. */
export function backgroundOfReport(view: View, { id }: Pick<TaskView, 'id'>): string {
  if (stageTask(view, id)?.stage !== 'REPORT') return '';
  const lines = todoViews(view).map(({ todo }) => {
    const { title, item, state, commit, why, required_inputs: inputs = [] } = todo;
    return [
      `- ${todo.id} (${item}): ${plainLine(title)}: ${state}${commit === undefined ? '' : `, commit ${commit}`}`,
      ...(why === undefined ? [] : [`  why: ${plainLine(why, 1_000)}`]),
      ...inputs.map((one) => `  it waits for: ${plainLine(one)}`),
    ].join('\n');
  });
  return fenceTag('todos', lines.join('\n'), MOST);
}
