import type { Composition } from '../../compose.ts';
import type { Attempt } from '../../model/attempt.ts';
import { errorText } from '../../model/errors.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { RunEvent } from '../../model/run-event.ts';
import type { TurnEvent } from '../../model/turn-event.ts';
import { openRunView } from '../../read-model/run-view.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { renderRunEvent } from '../render/run-lines.ts';
import { renderEvent } from '../render/turn-lines.ts';
import { readTurnOutput } from '../../squad/turn-output.ts';

/** The pane names this many of the turns that ended before it was opened. */
const MOST_EARLIER = 5;

interface TurnsPorts {
  readonly ledger: Ledger;
  readonly composition: Composition;
  readonly redactor: Redactor;
  /** The folder with the ledger. */
  readonly directory: string;
  readonly print: (line: string) => void;
}

export type Turns = ReturnType<typeof followTurns>;

type TurnStep = Extract<RunEvent, { type: 'attempt-taken' | 'attempt-ended' }>;

/** An agent's turns, from the run's events, with the output of the live one, from its own files. */
export function followTurns(ports: TurnsPorts, runId: string, agent: string) {
  const { ledger, print } = ports;
  const view = openRunView(ledger, runId);
  const followed = new Map<string, { ended: AbortController; read: Promise<void> }>();
  let isFirstLook = true;

  const follow = (attemptId: string): void => {
    const attempt = ledger.attempt(attemptId);
    if (attempt === undefined || followed.has(attemptId)) return;
    const ended = new AbortController();
    followed.set(attemptId, { ended, read: followOutput(ports, attempt, ended.signal) });
  };
  const unfollow = async (attemptId: string): Promise<void> => {
    const known = followed.get(attemptId);
    followed.delete(attemptId);
    known?.ended.abort();
    await known?.read;
  };

  return {
    /** Shows what is new, in order. Calls must not overlap. */
    look: async (): Promise<void> => {
      const steps = view.look().filter((event) => isTurnOf(event, agent));
      const shown = isFirstLook ? withoutEarlier(steps) : steps;
      isFirstLook = false;
      for (const step of shown) {
        if (step.type === 'attempt-ended') await unfollow(step.attemptId);
        print(renderRunEvent(step) ?? '');
        if (step.type === 'attempt-taken') follow(step.attemptId);
      }
    },
    close: async (): Promise<void> => {
      for (const { ended } of followed.values()) ended.abort();
      await Promise.all([...followed.values()].map(async ({ read }) => read));
      followed.clear();
    },
  };
}

function isTurnOf(event: RunEvent, agent: string): event is TurnStep {
  const isStep = event.type === 'attempt-taken' || event.type === 'attempt-ended';
  return isStep && event.kind === 'turn' && event.agent === agent;
}

/** Of the turns that have ended, only the last few are named, each by its end. */
function withoutEarlier(steps: readonly TurnStep[]): readonly TurnStep[] {
  const ends = steps.filter(({ type }) => type === 'attempt-ended');
  const over = new Set(ends.map(({ attemptId }) => attemptId));
  return [...ends.slice(-MOST_EARLIER), ...steps.filter(({ attemptId }) => !over.has(attemptId))];
}

/** Reads one turn's output to its end. A problem becomes a line of the pane and does not touch the turn. */
async function followOutput(ports: TurnsPorts, attempt: Attempt, ended: AbortSignal): Promise<void> {
  const { print } = ports;
  const show = (event: TurnEvent): void => {
    const line = renderEvent(event);
    if (line !== undefined) print(`  ${line}`);
  };
  try {
    await readTurnOutput(ports, attempt, ended, show);
  } catch (error) {
    print(`note      the output of ${attempt.id} cannot be followed: ${errorText(error).slice(0, 200)}`);
  }
}
