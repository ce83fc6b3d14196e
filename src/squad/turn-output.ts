import { join } from 'node:path';
import { redactTurn } from '../engine/attempts/redact-turn.ts';
import { readTurnSecrets } from '../engine/attempts/turn-secrets.ts';
import type { Composition } from '../engine/compose.ts';
import type { Attempt } from '../model/attempt.ts';
import type { Redactor } from '../model/redaction/redactor.ts';
import type { TurnEvent } from '../model/turn-event.ts';
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
  const { onEvent } = redactTurn(redactor.with(await readTurnSecrets(folder)), take);
  const reports = read(request, folder, ended);
  for await (const report of reports) onEvent({ at: composition.clock.now(), ...report });
}
