import type { Composition } from '../engine/compose.ts';
import { errorText } from '../model/errors.ts';
import type { RunEvent } from '../model/run-event.ts';
import type { TurnEvent } from '../model/turn-event.ts';
import type { Redactor } from '../model/redaction/redactor.ts';
import { openRunEvents } from '../view/run-events.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { readTurnOutput } from './turn-output.ts';

export interface FollowPorts {
  readonly ledger: Ledger;
  readonly composition: Composition;
  readonly redactor: Redactor;
  /** The folder with the ledger. */
  readonly directory: string;
}

/**
 * The events of a run that any process drives: those of its ledger, with the output of live turns from their own files. `epoch`: from
 * the engine with this lease on; absent: from the start. `agent`: only its turns; absent: everything.
 */
export function followRun(
  ports: FollowPorts,
  runId: string,
  epoch: number | undefined,
  take: (event: RunEvent) => void,
  agent?: string,
) {
  const view = openRunEvents(ports.ledger, runId, { epoch, playbooks: ports.composition.playbooks });
  const outputs = followOutputs(ports, runId, take);
  let version: number | undefined;
  let isFirst = true;
  return {
    /** Takes what is new, in order. Calls must not overlap. */
    look: async (): Promise<void> => {
      const changed = ports.ledger.dataVersion();
      if (changed === version) return;
      version = changed;
      const events = view.look().filter((event) => agent === undefined || isTurnOf(event, agent));
      // Turns that were over at the first look: their output is not shown.
      const over = new Set(events.flatMap((one) => (isFirst && one.type === 'attempt-ended' ? [one.attemptId] : [])));
      isFirst = false;
      for (const event of events) {
        // Its output comes before its end.
        if (event.type === 'attempt-ended') await outputs.unfollow(event.attemptId, event.at);
        take(event);
        const isLive = event.type === 'attempt-taken' && event.kind === 'turn' && !over.has(event.attemptId);
        if (isLive) outputs.follow(event.attemptId);
      }
    },
    /** The plan as of the last look. */
    board: () => view.board(),
    close: async (): Promise<void> => outputs.close(),
  };
}

function isTurnOf(event: RunEvent, agent: string): boolean {
  const isStep = event.type === 'attempt-taken' || event.type === 'attempt-ended';
  return isStep && event.kind === 'turn' && event.agent === agent;
}

/** The output of live turns, each from its own files. */
function followOutputs(ports: FollowPorts, runId: string, take: (event: RunEvent) => void) {
  const followed = new Map<string, { ended: AbortController; read: Promise<void> }>();
  /** By attempt: when it ended. */
  const ends = new Map<string, number>();
  const follow = (attemptId: string): void => {
    const attempt = ports.ledger.attempt(attemptId);
    if (attempt === undefined || followed.has(attemptId)) return;
    const { taskId: task, agent } = attempt;
    // Output that is read after the end of its turn was written before it.
    const show = (event: TurnEvent): void =>
      take({ ...event, at: Math.min(event.at, ends.get(attemptId) ?? Infinity), runId, attemptId, task, agent });
    const ended = new AbortController();
    const read = readTurnOutput(ports, attempt, ended.signal, show).catch((error: unknown) =>
      take({
        type: 'warning',
        at: Date.now(),
        runId,
        text: `the output of ${attemptId} cannot be read: ${errorText(error)}`,
      }),
    );
    followed.set(attemptId, { ended, read });
  };
  const unfollow = async (attemptId: string, at: number): Promise<void> => {
    const known = followed.get(attemptId);
    ends.set(attemptId, at);
    followed.delete(attemptId);
    known?.ended.abort();
    await known?.read;
    ends.delete(attemptId);
  };
  return {
    follow,
    unfollow,
    close: async (): Promise<void> => {
      await Promise.all([...followed.keys()].map(async (id) => unfollow(id, Date.now())));
    },
  };
}
