import { join } from 'node:path';
import type { Composition } from '../../engine/compose.ts';
import { turnRequestSchema } from '../../model/turn-request.ts';
import type { AttemptReading, RunHistory } from '../../view/read-run.ts';
import { letThroughBy } from '../../model/let-through.ts';
import { parseJson } from '../../text/json.ts';
import { readTurnOutput, whyDropped } from '../../squad/turn-output.ts';
import { hasOutput } from '../../substrate/system/files/packed-output.ts';
import { attemptName } from '../../model/attempt-id.ts';
import { createStepList, type TurnRecord } from './turn-record.ts';

interface Place {
  readonly composition: Composition;
  /** The folder with the ledger. */
  readonly directory: string;
}

/** The attempts with what their agents said and did, as far as that is kept. */
export async function readTurns(
  place: Place,
  reading: RunHistory,
  attempts: readonly AttemptReading[],
): Promise<TurnRecord[]> {
  const records: TurnRecord[] = [];
  for (const one of attempts) records.push({ ...recordOf(reading, one), ...(await readSteps(place, reading, one)) });
  return records;
}

/** Reads no output of the turn, so it has no steps. */
export function recordOf({ board }: RunHistory, { attempt, settlement }: AttemptReading): TurnRecord {
  const { id, agent, runtime, kind, claimedAt } = attempt;
  const task = attempt.taskId.replace(/^check:/, '');
  const request = turnRequestSchema.safeParse(parseJson(attempt.request)).data;
  const work = board.tasks.get(task)?.work;
  const { outcome, text, structured, failure, usage, durationMs } = settlement?.result ?? {};
  const result =
    outcome === undefined
      ? null
      : { outcome, text: text ?? '', structured, failure, usage, durationMs: durationMs ?? 0 };
  return {
    ...{ attempt: attemptName(attempt), id, task, agent, runtime, kind, claimedAt },
    isReview: kind === 'turn' && work !== undefined && !work.authors.includes(agent),
    prompt: request?.prompt ?? null,
    ...{ steps: null, gone: null, dropped: 0, result },
  };
}

async function readSteps(
  { composition, directory }: Place,
  { definition }: RunHistory,
  { attempt, settlement }: AttemptReading,
): Promise<Pick<TurnRecord, 'steps' | 'dropped' | 'gone'>> {
  const none = { steps: null, gone: (await whyDropped(directory, attempt)) ?? null, dropped: 0 };
  const isReadable = attempt.kind === 'turn' && composition.transcript(attempt.runtime) !== undefined;
  if (!isReadable || !(await hasOutput(join(directory, 'turns', attempt.id, 'stdout')))) return none;
  const steps = createStepList();
  const redactor = composition.redactor(letThroughBy(definition));
  // Aborted from the start: reads the output so far, and does not wait for more of a live turn.
  await readTurnOutput({ composition, redactor, directory }, attempt, AbortSignal.abort(), steps.take);
  return { ...steps.end(settlement?.result.text ?? ''), gone: null };
}
