import type { BacklogEntry } from '../../model/sprint/item.ts';
import type { ItemState } from '../../model/sprint/states.ts';
import { plainLine } from '../../text/plain-text.ts';
import { bringCommand } from '../../view/blocked-item.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';

const COLOUR = {
  pending: 'cyan',
  selected: 'cyan',
  carried_over: 'cyan',
  blocked: 'yellow',
  done: 'green',
  dropped: 'dim',
} as const satisfies Record<ItemState, Parameters<Style>[0]>;

/** The items that are open, the most urgent first, and how many are not. */
export function renderBacklog(
  backlog: readonly BacklogEntry[],
  { columns, style }: { readonly columns: number | undefined; readonly style: Style },
): string[] {
  const open = backlog.filter(({ state }) => state !== 'done' && state !== 'dropped');
  const over = (['done', 'dropped'] as const).flatMap((state) => {
    const count = backlog.filter((one) => one.state === state).length;
    return count === 0 ? [] : [`${count} ${state}`];
  });
  const rest = over.length === 0 ? [] : [`Besides: ${over.join(', ')}.`];
  if (open.length === 0) return [`No item is open. The planner makes items of requests: squad request "…"`, ...rest];
  const head = ['item', 'state', 'priority', 'kind', 'sprint', 'about'].map((title) => style('dim', title));
  const rows = open.map((item) => [
    item.id,
    style(COLOUR[item.state], item.state),
    String(item.priority),
    item.kind,
    item.selected_in_sprint_id ?? '',
    plainLine(aboutOf(item), 300),
  ]);
  const blocked = open.find(({ state }) => state === 'blocked');
  const bring = blocked === undefined ? [] : [`Bring what a blocked item waits for: ${bringCommand(blocked.id)}`];
  return [...renderTable({ head, rows, columns, cut: 'last' }), ...rest, ...bring];
}

function aboutOf({ title, state, blocked_reason: reason, required_inputs: inputs = [] }: BacklogEntry): string {
  if (state !== 'blocked') return title;
  const needs = inputs.length === 0 ? '' : `; it needs ${inputs.join('; ')}`;
  return `${title} (${reason ?? 'blocked'}${needs})`;
}
