import { attemptScope, attemptWithin } from '../model/attempt-id.ts';
import { isJsonObject } from '../text/json.ts';
import type { LedgerEvent } from '../model/ledger-event.ts';
import type { Board } from '../model/plan/board.ts';
import { planEntrySchema } from '../model/plan/entry.ts';
import { RUN_EVENTS, type RunDefinition } from '../model/run.ts';
import type { SessionRef } from '../model/session-ref.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { createBoard } from '../rules/board.ts';
import { foldEntry } from '../rules/plan-step.ts';
import { isInput, readInput, type InputRecords, type SettledTurn } from '../rules/read-input.ts';
import { readMail, unreadAnswers } from './read-mail.ts';
import type { PlanInput } from '../rules/plan-step.ts';
import { factsOf } from '../rules/run-facts.ts';

/** The plan of one run from its ledger, kept in memory between steps. */
export interface PlanBook {
  /** The board after the inputs up to `cursor`. */
  boardAt(cursor: number): Board;
  /** Keeps the board of a step that was applied. */
  moved(cursor: number, board: Board): void;
  /** Forgets the board, so that it is read from the ledger again. */
  reread(): void;
  /** Inputs after `cursor`, oldest first, at most `limit`. */
  inputsAfter(cursor: number, limit: number): LedgerEvent[];
  read(event: LedgerEvent): PlanInput[];
  /** The session that attempts with this key resume. */
  session(key: string): SessionRef | undefined;
}

const MAIL_INPUTS: ReadonlySet<string> = new Set(['mail-sent', 'mail-overdue', 'mail-task-overdue']);

export function ledgerSessionKey(runName: string, key: string): string {
  return `${runName}:${key}`;
}

export function createPlanBook(ledger: Ledger, runId: string, definition: RunDefinition): PlanBook {
  const { name } = definition;
  const { mail } = ledger;
  const scope = attemptScope(name, runId);
  let current: { cursor: number; board: Board } | undefined;
  let scanned = 0;
  let sessions: Map<string, SessionRef> | undefined;

  const knownSessions = (): Map<string, SessionRef> => {
    sessions ??= readSessions(ledger, runId);
    return sessions;
  };

  const settledTurn = (event: LedgerEvent): SettledTurn | undefined => {
    const id = attemptIdOf(event);
    const attempt = id === undefined ? undefined : ledger.attempt(id);
    const result = id === undefined ? undefined : ledger.settlement(id)?.result;
    if (id === undefined || attempt === undefined || result === undefined || attempt.kind !== 'turn') return undefined;
    if (attempt.sessionKey !== null && result.session !== undefined) {
      knownSessions().set(attempt.sessionKey, result.session);
    }
    return {
      attempt: attemptWithin(scope, id),
      task: attempt.taskId,
      result,
      mail:
        result.outcome === 'completed' ? mail.deferredBy(id).flatMap((sent) => readMail(ledger, sent.id) ?? []) : [],
      awaits: unreadAnswers(mail, id),
    };
  };

  const recordsOf = (event: LedgerEvent): InputRecords => {
    if (event.type === 'attempt-settled') return { turn: settledTurn(event) };
    if (!MAIL_INPUTS.has(event.type)) return {};
    const { data } = event;
    return isJsonObject(data) && typeof data['id'] === 'string' ? { mail: readMail(ledger, data['id']) } : {};
  };

  return {
    boardAt: (cursor) => {
      if (current?.cursor !== cursor) current = { cursor, board: readBoard(ledger, runId, definition, cursor) };
      return current.board;
    },
    moved: (cursor, board) => {
      current = { cursor, board };
    },
    reread: () => {
      current = undefined;
    },
    inputsAfter: (cursor, limit) => {
      // Facts between the cursor and the newest event are read only once.
      const events = ledger.events({ stream: runId, after: Math.max(cursor, scanned) });
      const inputs = events.filter(isInput).slice(0, limit);
      if (inputs.length === 0) scanned = Math.max(scanned, events.at(-1)?.seq ?? 0);
      return inputs;
    },
    read: (event) => readInput(event, recordsOf(event)),
    session: (key) => knownSessions().get(ledgerSessionKey(name, key)),
  };
}

function readBoard(ledger: Ledger, runId: string, definition: RunDefinition, cursor: number): Board {
  return ledger
    .events({ stream: runId })
    .filter(({ type, cause }) => type === RUN_EVENTS.plan && cause !== null && cause <= cursor)
    .reduce((board, { data }) => foldEntry(board, planEntrySchema.parse(data)), createBoard(factsOf(definition)));
}

function readSessions(ledger: Ledger, runId: string): Map<string, SessionRef> {
  const settled = ledger
    .attempts({ runId, status: 'settled' })
    .flatMap(({ id, sessionKey }): [string, SessionRef][] => {
      const session = ledger.settlement(id)?.result.session;
      return sessionKey === null || session === undefined ? [] : [[sessionKey, session]];
    });
  return new Map(settled);
}

function attemptIdOf({ data }: LedgerEvent): string | undefined {
  return isJsonObject(data) && typeof data['attemptId'] === 'string' ? data['attemptId'] : undefined;
}
