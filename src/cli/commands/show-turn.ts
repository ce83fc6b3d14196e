import type { TurnEvent } from '../../model/turn-event.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import type { AttemptPlace, RunningTurn } from '../../single-turn.ts';
import type { TakenUp } from '../../attempts/take-up.ts';
import { handleInterrupts } from '../interrupts.ts';
import type { Output } from '../output.ts';
import type { CommandContext } from '../command-context.ts';
import { renderEvent, renderResult } from '../render/turn-lines.ts';

/** Prints a turn's events as they come. */
export function turnListeners(output: Output, json: boolean) {
  return {
    onEvent: (where: AttemptPlace, event: TurnEvent): void => {
      if (json) return output.json({ ...event, ...where });
      const line = renderEvent(event);
      if (line !== undefined) output.line(line);
    },
    onTaken: (where: AttemptPlace, how: TakenUp): void => {
      if (json) output.json({ type: 'attempt-taken', at: Date.now(), ...where, how });
      else output.line(`attempt   ${where.attemptId} ${how}`);
    },
  };
}

/** Waits for a turn's end, with Ctrl-C handled, prints it and sets the exit code. */
export async function showTurn({ output, exit }: CommandContext, running: RunningTurn, json: boolean): Promise<void> {
  const interrupts = handleInterrupts(output, running);
  try {
    const end = await running.done;
    if (json) {
      const { runId, attemptId, workspace, result } = end;
      output.json({ type: 'turn-ended', at: Date.now(), runId, attemptId, workspace, ...result });
    } else {
      output.line(renderResult(end.result));
      output.line(`  worktree  ${end.workspace}`);
    }
    exit(exitCodeOf(end.result, interrupts.signal()));
  } finally {
    interrupts.stop();
  }
}

function exitCodeOf(result: TurnResult, signal: NodeJS.Signals | undefined): number {
  if (result.outcome === 'completed') return 0;
  if (signal !== undefined && result.outcome === 'cancelled') return signal === 'SIGINT' ? 130 : 143;
  const waits = result.failure?.kind === 'quota-exhausted' || result.failure?.kind === 'rate-limited';
  return waits ? 4 : 1;
}
