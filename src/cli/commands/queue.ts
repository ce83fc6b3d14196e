import { dropQueued, moveQueued, readQueue } from '../../squad/queue.ts';
import type { QueuedRun } from '../../view/queue.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { printResult } from '../output.ts';
import { renderQueue } from '../render/queue-table.ts';

/** Lists the queue, the run that starts next first. */
export async function queue(context: CommandContext, options: JsonOptions): Promise<void> {
  printQueue(context, await readQueue(context), options);
}

export async function moveRun(
  context: CommandContext,
  run: string,
  place: string,
  options: JsonOptions,
): Promise<void> {
  const moved = await moveQueued(context, run, Number(place));
  const { output } = context;
  if (options.json === true) return output.json({ type: 'queue-moved', run, queue: moved.map(({ name }) => name) });
  printQueue(context, moved, options);
}

export async function dropRun({ host, output }: CommandContext, run: string, options: JsonOptions): Promise<void> {
  const { runId, name } = await dropQueued({ host }, run);
  printResult(output, options, { type: 'queue-dropped', runId, name }, [
    `${name} is out of the queue. \`squad resume ${name}\` starts it all the same.`,
  ]);
}

function printQueue({ output }: CommandContext, all: readonly QueuedRun[], { json }: JsonOptions): void {
  if (json === true) {
    all.forEach((run, index) => output.json({ place: index + 1, ...run }));
    return;
  }
  const { columns, style } = output;
  for (const line of renderQueue(all, { now: Date.now(), columns: columns(), style })) output.line(line);
}
