import { join } from 'node:path';
import { redactTurn } from '../engine/attempts/redact-turn.ts';
import { readTurnSecrets } from '../engine/attempts/turn-secrets.ts';
import type { Composition } from '../engine/compose.ts';
import type { Attempt } from '../model/attempt.ts';
import type { Redactor } from '../model/redaction/redactor.ts';
import type { TurnEvent } from '../model/turn-event.ts';
import { exists } from '../substrate/system/files/exists.ts';
import { outputDroppedAt } from '../substrate/system/files/run-files.ts';
import { localDate } from '../text/time.ts';
import { turnRequestSchema } from '../model/turn-request.ts';

interface OutputPorts {
  readonly composition: Composition;
  readonly redactor: Redactor;
  /** The folder with the ledger. */
  readonly directory: string;
}

/** Reads one turn's output from its first byte until `ended`, without secrets. Does not touch the turn. */
export async function readTurnOutput(
  { composition, redactor, directory }: OutputPorts,
  attempt: Attempt,
  ended: AbortSignal,
  take: (event: TurnEvent) => void,
): Promise<void> {
  const read = composition.transcript(attempt.runtime);
  if (read === undefined) return;
  const request = turnRequestSchema.parse(JSON.parse(attempt.request));
  const folder = join(directory, 'turns', attempt.id);
  const dropped = await whyDropped(directory, attempt);
  if (dropped !== undefined) return take({ type: 'notice', at: composition.clock.now(), text: dropped });
  const { onEvent } = redactTurn(redactor.with(await readTurnSecrets(folder)), take);
  const reports = read(request, folder, ended);
  for await (const report of reports) onEvent({ at: composition.clock.now(), ...report });
}

/** Why the output of an attempt is not there any more; undefined: it is there, or this is not known. */
export async function whyDropped(
  directory: string,
  { id, runId }: Pick<Attempt, 'id' | 'runId'>,
): Promise<string | undefined> {
  if (await exists(join(directory, 'turns', id))) return undefined;
  const at = await outputDroppedAt(directory, runId);
  return at === undefined ? undefined : `its raw output was dropped on ${localDate(at)} by keep.output`;
}
