import { usageError, errorText } from '../../model/errors.ts';
import { letThroughBy } from '../../model/let-through.ts';
import { openRun } from '../../squad/open-run.ts';
import type { OpenedWorkspace } from '../../squad/open-workspace.ts';
import { readTurnOutput } from '../../squad/turn-output.ts';
import { openLedger } from '../../substrate/ledger/index.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { AttemptReading } from '../../view/read-run.ts';
import { readTurns, recordOf } from '../show/read-turns.ts';
import { createStepList } from '../show/turn-record.ts';
import type { Watched } from './feed.ts';
import { turnPage } from './turn-page.ts';

/** So many times as long as the drawing took, nothing is drawn. */
const REST = 4;

/** Follows one turn: its output while it is at work, and once more all of it at its end. */
export async function watchTurn(workspace: OpenedWorkspace, runId: string, attemptId: string): Promise<Watched> {
  const { composition, directory } = workspace;
  const { clock } = composition;
  const { reading, found } = await openTurn(workspace, runId, attemptId);
  const record = recordOf(reading, found);
  const ledger = openLedger(directory, { clock, readOnly: true });
  const redactor = composition.redactor(letThroughBy(reading.definition));
  const isReadable = found.attempt.kind === 'turn' && composition.transcript(found.attempt.runtime) !== undefined;
  const steps = createStepList();
  const ended = new AbortController();
  let output: Promise<void> | undefined;
  let isNew = true;
  let isOver = false;
  let restUntil = 0;
  const follow = async (): Promise<void> => {
    const take: typeof steps.take = (event) => {
      steps.take(event);
      isNew = true;
    };
    await readTurnOutput({ composition, redactor, directory }, found.attempt, ended.signal, take).catch(
      (error: unknown) =>
        take({ type: 'notice', at: clock.now(), text: `its output cannot be read: ${errorText(error)}` }),
    );
  };
  return {
    look: async () => {
      if (isOver) return undefined;
      const status = ledger.attempt(attemptId)?.status;
      if (status === 'settled') {
        isOver = true;
        ended.abort();
        const now = await openTurn(workspace, runId, attemptId);
        const [turn] = await readTurns(now.opened, now.reading, [now.found]);
        return turn && turnPage(turn, now.reading.row.name);
      }
      if (status === 'spawned' && isReadable) output ??= follow();
      const begun = clock.monotonic();
      if (!isNew || begun < restUntil) return undefined;
      isNew = false;
      const page = turnPage({ ...record, ...(isReadable ? steps.end('') : {}) }, reading.row.name);
      restUntil = clock.monotonic() + (clock.monotonic() - begun) * REST;
      return page;
    },
    close: async () => {
      ended.abort();
      await output;
      ledger.close();
    },
  };
}

async function openTurn(workspace: OpenedWorkspace, runId: string, attemptId: string) {
  const opened = await openRun(workspace, runId);
  const { reading } = opened;
  return { opened, reading, found: turnIn(reading, attemptId) };
}

/** Throws `usage` for a turn that the run does not have. */
export function turnIn(
  { attempts, row }: { readonly attempts: readonly AttemptReading[]; readonly row: { readonly name: string } },
  attemptId: string,
): AttemptReading {
  const found = attempts.find(({ attempt }) => attempt.id === attemptId);
  if (found !== undefined) return found;
  throw usageError(
    `${row.name} has no turn ${plainLine(attemptId, 80)}`,
    `List its turns with \`squad show ${row.name}\`.`,
  );
}
