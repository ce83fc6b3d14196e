import { plainLine } from '../../text/plain-text.ts';
import { ageOf } from '../../text/time.ts';
import type { QueuedBase, QueuedRun } from '../../view/queue.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';

const COLOUR = { ready: 'cyan', waits: 'yellow', held: 'yellow' } as const satisfies Record<
  QueuedRun['state'],
  Parameters<Style>[0]
>;

/** One line for each run of the queue. `columns`: width of the terminal, if it is one. */
export function renderQueue(
  queue: readonly QueuedRun[],
  { now, columns, style }: { now: number; columns: number | undefined; style: Style },
): string[] {
  if (queue.length === 0) return ['No run is in the queue. Put one there: squad add objective.md'];
  const head = ['', 'run', 'state', 'priority', 'added', 'begins with', 'about'].map((title) => style('dim', title));
  const rows = queue.map(({ name, state, priority, submittedAt, base, why, objective }, index) => [
    String(index + 1),
    name,
    style(COLOUR[state], state),
    plainLine(priority ?? 'medium', 20),
    `${ageOf(now - submittedAt)} ago`,
    baseText(base),
    plainLine(state === 'ready' ? objective : why, 300),
  ]);
  return renderTable({ head, rows, columns, cut: 'last' });
}

function baseText(base: QueuedBase): string {
  if (base.of === 'commit') return base.commit.slice(0, 12);
  return plainLine(base.of === 'ref' ? base.ref : `result of ${base.run}`, 60);
}
