import { plainLine } from '../../text/plain-text.ts';
import { bringCommand } from '../blocked-item.ts';
import type { RequestItem, RequestView } from './request-view.ts';

/** The result of a request, in one line for each of its items. */
export function renderEnd(request: RequestView): string[] {
  const { id, state, answer, items } = request;
  const why = state === 'refused' && answer !== null ? `: ${plainLine(answer, 500)}` : '';
  const reply = state === 'blocked' ? [`Answer it: ${bringCommand(items.find(isBlocked)?.id ?? id)}`] : [];
  return [`${id} is ${state}${why}.`, ...items.map((item) => `  ${itemText(item)}`), ...reply];
}

function isBlocked({ state }: RequestItem): boolean {
  return state === 'blocked';
}

/** One line about an item of a request. */
export function itemText({ id, title, state, sprint, commit, why, requiredInputs }: RequestItem): string {
  const where = sprint === null ? '' : ` in ${plainLine(sprint, 60)}`;
  const how = commit === null ? '' : `, commit ${plainLine(commit.slice(0, 12), 12)}`;
  const because = why === null ? '' : `: ${plainLine(why, 300)}`;
  const needs =
    state === 'blocked' && requiredInputs.length > 0 ? `; it needs ${plainLine(requiredInputs.join('; '), 300)}` : '';
  return `${id} ${state}${where}${how}${because}${needs}  ${plainLine(title, 120)}`;
}

/** Who has it next. */
export function ownerText({ next }: Pick<RequestView, 'next'>): string {
  if (next === null) return '';
  if (next === 'you') return 'You have it next.';
  return next === 'planner' || next === 'next sprint' ? `The ${next} has it next.` : `The sprint ${next} has it.`;
}
