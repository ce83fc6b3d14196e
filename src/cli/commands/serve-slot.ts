import { usageError } from '../../model/errors.ts';
import { bindWorkspace, openWorkspace } from '../../squad/open-workspace.ts';
import { submitSlot } from '../../squad/service/submit-slot.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext } from '../command-context.ts';
import { readArgument } from '../read-objective.ts';

/** Submits one slot, and prints what came of it in one line. Exit 0 if the slot is settled, with or without a run. */
export async function serveSlot(context: CommandContext, name: string, instant: string): Promise<void> {
  const slot = Date.parse(instant);
  if (Number.isNaN(slot))
    throw usageError(`${plainLine(instant, 80)} is no instant`, '`squad serve` gives this command.');
  const workspace = bindWorkspace(await openWorkspace(context));
  const { text } = await submitSlot(workspace, { name, slot }, (given) => readArgument(context, given));
  context.output.line(text);
}
