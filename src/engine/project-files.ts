import { createView } from '../graph/decisions/view.ts';
import { attemptName } from '../model/attempt-id.ts';
import type { LedgerEvent } from '../model/ledger-event.ts';
import type { Playbook } from '../model/plan.ts';
import type { Board } from '../model/plan/board.ts';
import type { RunDefinition } from '../model/run.ts';
import type { RunState } from '../model/run-state.ts';
import { isTurn } from '../read-model/usage-count.ts';
import { checklistFiles } from '../report/files/checklist-file.ts';
import type { RunFile } from '../report/files/run-file.ts';
import { turnFile } from '../report/files/turn-file.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';
import { asObject } from '../text/json.ts';

/** Settled turns that are read at once: the engine works between two of them. */
const BATCH = 10;

interface ProjectorPorts {
  readonly ledger: Pick<Ledger, 'events' | 'attempt' | 'settlement'>;
  readonly playbook: Pick<Playbook<unknown>, 'files'>;
}

/** What the files of a run say. Each call writes what the ledger and the board have had since the last one. */
interface Projector {
  write(board: Board, state: RunState): Promise<void>;
}

export function createProjector(
  ports: ProjectorPorts,
  of: { readonly lease: Lease; readonly definition: RunDefinition },
  put: (file: RunFile) => Promise<void>,
): Projector {
  const { playbook } = ports;
  const { definition } = of;
  /** The board whose files are there. */
  let shown: Board | undefined;
  let cursor = 0;
  const writeTurns = async (board: Board): Promise<void> => {
    for (;;) {
      const where = { stream: of.lease.runId, after: cursor, types: ['attempt-settled'], limit: BATCH };
      const events = ports.ledger.events(where);
      for (const event of events) {
        const file = turnFileOf(ports.ledger, definition, board, event);
        if (file !== undefined) await put(file);
        cursor = event.seq;
      }
      if (events.length < BATCH) return;
    }
  };
  return {
    write: async (board) => {
      await writeTurns(board);
      if (board === shown) return;
      if (shown === undefined) await put({ path: 'objective.md', text: definition.objective.text });
      const own = playbook.files?.(createView(board)) ?? [];
      const files = [...own.map(({ path, text }) => ({ path: `files/${path}`, text })), ...checklistFiles(board)];
      for (const file of files) await put(file);
      shown = board;
    },
  };
}

/** undefined: it was no turn, or no agent ever ran. */
function turnFileOf(
  ledger: ProjectorPorts['ledger'],
  definition: RunDefinition,
  board: Board,
  { data }: LedgerEvent,
): RunFile | undefined {
  const { attemptId } = asObject(data);
  const attempt = typeof attemptId === 'string' ? ledger.attempt(attemptId) : undefined;
  const settlement = attempt && ledger.settlement(attempt.id);
  if (attempt === undefined || settlement === undefined || !isTurn({ attempt, settlement })) return undefined;
  const { task, work } = board.tasks.get(attempt.taskId) ?? {};
  return turnFile({
    ...{ run: definition.name, attempt, settlement },
    name: attemptName(attempt),
    role: definition.agents.find(({ name }) => name === attempt.agent)?.role ?? '',
    title: task?.title ?? attempt.taskId,
    isReview: work?.authors.includes(attempt.agent) === false,
  });
}
