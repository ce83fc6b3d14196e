import { join } from 'node:path';
import { redactTurn } from '../../attempts/redact-turn.ts';
import type { Composition } from '../../compose.ts';
import type { Attempt } from '../../model/attempt.ts';
import { errorText } from '../../model/errors.ts';
import { isJsonObject } from '../../text/json.ts';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import { RUNTIME_NAMES } from '../../model/runtime-name.ts';
import type { TurnEvent } from '../../model/turn-event.ts';
import { turnRequestSchema } from '../../model/turn-request.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { renderRunEvent } from '../render/run-lines.ts';
import { renderEvent } from '../render/turn-lines.ts';

/** Of turns that were over when the pane was opened, so many are named. */
const MOST_EARLIER = 5;

interface TurnsPorts {
  readonly ledger: Ledger;
  readonly composition: Composition;
  readonly redactor: Redactor;
  /** `.squad` */
  readonly directory: string;
  readonly print: (line: string) => void;
}

/** An agent's turns, from the ledger, and what is said in the one that lives, from its own files. */
export interface Turns {
  /** What is new on record; in order, in one call after the other. */
  look(): Promise<void>;
  /** Stops following. */
  close(): Promise<void>;
}

interface Followed {
  readonly ended: AbortController;
  readonly read: Promise<void>;
}

export function followTurns(ports: TurnsPorts, runId: string, agent: string): Turns {
  const { ledger, print } = ports;
  const followed = new Map<string, Followed>();
  let after = 0;
  let isFirstLook = true;

  const begin = (attempt: Attempt): void => {
    if (followed.has(attempt.id)) return;
    print(`turn      ${shortOf(attempt.id)} of task ${attempt.taskId}, by ${attempt.runtime}`);
    const ended = new AbortController();
    followed.set(attempt.id, { ended, read: followOutput(ports, attempt, ended.signal) });
  };
  const end = async (attempt: Attempt): Promise<void> => {
    const known = followed.get(attempt.id);
    followed.delete(attempt.id);
    known?.ended.abort();
    await known?.read;
    const line = endLine(ledger, attempt);
    if (line !== undefined) print(line);
  };

  return {
    look: async () => {
      const events = ledger.events({ stream: runId, after });
      after = events.at(-1)?.seq ?? after;
      const news = newsOf(ledger, events, agent);
      const earlier = isFirstLook ? news.filter(({ attempt }) => attempt.status === 'settled') : [];
      isFirstLook = false;
      const dropped = new Set(earlier.slice(0, -2 * MOST_EARLIER));
      for (const one of news) {
        if (dropped.has(one)) continue;
        if (one.is === 'ended') await end(one.attempt);
        // Of a turn that is over, only its end is told: its words are in its folder.
        else if (!earlier.includes(one)) begin(one.attempt);
      }
    },
    close: async () => {
      for (const { ended } of followed.values()) ended.abort();
      await Promise.all([...followed.values()].map(async ({ read }) => read));
      followed.clear();
    },
  };
}

interface News {
  readonly is: 'begun' | 'ended';
  readonly attempt: Attempt;
}

function newsOf(ledger: Ledger, events: readonly LedgerEvent[], agent: string): readonly News[] {
  return events.flatMap(({ type, data }): News[] => {
    if (type !== 'attempt-spawned' && type !== 'attempt-settled') return [];
    const id = isJsonObject(data) ? data['attemptId'] : undefined;
    const attempt = typeof id === 'string' ? ledger.attempt(id) : undefined;
    if (attempt?.kind !== 'turn' || attempt.agent !== agent) return [];
    return [{ is: type === 'attempt-spawned' ? 'begun' : 'ended', attempt }];
  });
}

/** Reads one turn's output to its end. What goes wrong is a line of the pane: the turn is not harmed by being watched. */
async function followOutput(
  { composition, redactor, directory, print }: TurnsPorts,
  attempt: Attempt,
  ended: AbortSignal,
): Promise<void> {
  const show = (event: TurnEvent): void => {
    const line = renderEvent(event);
    if (line !== undefined) print(`  ${line}`);
  };
  try {
    const runtime = RUNTIME_NAMES.find((name) => name === attempt.runtime);
    if (runtime === undefined) return;
    const request = turnRequestSchema.parse(JSON.parse(attempt.request));
    const { onEvent } = redactTurn(redactor, show);
    const reports = composition.transcript(runtime)(request, join(directory, 'turns', attempt.id), ended);
    for await (const report of reports) onEvent({ at: composition.clock.now(), ...report });
  } catch (error) {
    print(`note      the output of ${attempt.id} cannot be followed: ${errorText(error).slice(0, 200)}`);
  }
}

function endLine(ledger: Ledger, { id, runId, taskId, agent, kind }: Attempt): string | undefined {
  const settlement = ledger.settlement(id);
  if (settlement === undefined) return undefined;
  const { outcome, failure, durationMs } = settlement.result;
  return renderRunEvent({
    type: 'attempt-ended',
    at: settlement.at,
    runId,
    attemptId: id,
    task: taskId,
    agent,
    kind,
    outcome,
    durationMs,
    ...(failure === undefined ? {} : { failure }),
  });
}

function shortOf(attemptId: string): string {
  return attemptId.slice(attemptId.lastIndexOf('.') + 1);
}
