import type { FailureKind } from '../../model/failure.ts';
import type { TurnEvent } from '../../model/turn-event.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import type { AttemptPlace, RunningTurn } from '../../single-turn.ts';
import type { AttemptStart } from '../../attempts/start-attempt.ts';
import { handleInterrupts, type Interrupts } from '../interrupts.ts';
import type { Output } from '../output.ts';
import type { RepositoryWarning } from '../../substrate/ports/workspaces.ts';
import type { CommandContext } from '../command-context.ts';
import { plainLine } from '../../text/plain-text.ts';
import { renderEvent, renderResult } from '../render/turn-lines.ts';

/** Prints a turn's events as they come. */
export function turnListeners(output: Output, json: boolean) {
  return {
    onEvent: (where: AttemptPlace, event: TurnEvent): void => {
      if (json) return output.json({ ...event, ...where });
      const line = renderEvent(event);
      if (line !== undefined) output.line(line);
    },
    onWarning: ({ about, text, next }: RepositoryWarning): void => {
      // What is wrong with the machine rather than the repository is the doctor's to say, not every turn's.
      if (about !== 'git-version')
        output.problem(plainLine(`note: ${text}${next === undefined ? '' : ` ${next}`}`, 800));
    },
    onStarted: (where: AttemptPlace, how: AttemptStart): void => {
      if (json) output.json({ type: 'attempt-taken', at: Date.now(), ...where, how });
      else output.line(`attempt   ${where.attemptId} ${how}`);
    },
  };
}

/** Waits for a turn's end, with Ctrl-C handled, prints it and sets the exit code. */
export async function showTurn({ output, exit }: CommandContext, running: RunningTurn, json: boolean): Promise<void> {
  const interrupts = handleInterrupts(output, running);
  const ticking = showProgress(output, running, interrupts);
  try {
    const end = await running.done;
    clearInterval(ticking);
    if (json) {
      const { runId, attemptId, workspace, result } = end;
      output.json({ type: 'turn-ended', at: Date.now(), runId, attemptId, workspace, ...result });
    } else {
      output.line(renderResult(end.result));
      output.line(`  worktree  ${end.workspace}`);
    }
    exit(exitCodeOf(end.result, interrupts.signal()));
  } finally {
    clearInterval(ticking);
    output.status?.('');
    interrupts.stop();
  }
}

/** On a terminal: that it still runs, and how quiet it is. Once interrupted, the countdown has the line. */
function showProgress(output: Output, running: RunningTurn, interrupts: Interrupts): NodeJS.Timeout | undefined {
  if (output.status === undefined) return undefined;
  const from = performance.now();
  return setInterval(() => {
    const activity = running.activity();
    if (activity === undefined || interrupts.signal() !== undefined) return;
    const quiet = Math.max(0, Math.round((Date.now() - activity.lastSignOfLifeAt) / 1000));
    const tools =
      activity.openTools === 0 ? '' : `, ${activity.openTools} tool${activity.openTools === 1 ? '' : 's'} open`;
    output.status?.(`running for ${Math.round((performance.now() - from) / 1000)} s, quiet for ${quiet} s${tools}`);
  }, 1000);
}

/** Exit 4: a limit was reached, or the account waits for its reset; the work can go on later. */
const STOPPED_AT_A_LIMIT: ReadonlySet<FailureKind> = new Set([
  'quota-exhausted',
  'rate-limited',
  'wall-timeout',
  'step-limit',
  'cost-limit',
]);

function exitCodeOf(result: TurnResult, signal: NodeJS.Signals | undefined): number {
  if (result.outcome === 'completed') return 0;
  if (signal !== undefined && result.outcome === 'cancelled') return signal === 'SIGINT' ? 130 : 143;
  return result.failure !== undefined && STOPPED_AT_A_LIMIT.has(result.failure.kind) ? 4 : 1;
}
