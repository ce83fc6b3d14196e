import type { ActionRun } from '../../model/people/action-run.ts';
import { plainLine } from '../../text/plain-text.ts';

/** How a run of an action ended, in one line. */
export function actionEnd({ name, end }: Pick<ActionRun, 'name' | 'end'>): string {
  if (end === undefined)
    return `squad was ended while the action ${name} ran, so its end is not known. It is not run again by itself.`;
  if (end.problem !== undefined) return `The action ${name} failed: ${plainLine(end.problem, 300)}`;
  return end.code === 0
    ? `The action ${name} is done.`
    : `The action ${name} failed: it exits with ${end.code ?? 'a signal'}.`;
}

export function isActionDone({ end }: Pick<ActionRun, 'end'>): boolean {
  return end?.code === 0 && end.problem === undefined;
}

/** With the last lines of what it printed, for a message. */
export function actionText(run: ActionRun): string {
  const output = run.end?.output ?? '';
  return output === '' ? actionEnd(run) : `${actionEnd(run)}\n\`\`\`\n${output.slice(-1_500)}\n\`\`\``;
}
