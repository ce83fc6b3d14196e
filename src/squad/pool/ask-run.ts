import { SquadError } from '../../model/errors.ts';
import type { Host } from '../../engine/machine.ts';
import { plainLine } from '../../text/plain-text.ts';
import { plainJson } from '../../text/json.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { PoolRun } from '../../substrate/ports/pool.ts';
import { operatorOf } from '../machine.ts';
import { readAnswer, type RemoteAnswers, type RemoteCommands, type RemoteVerb } from './run-commands.ts';
import { wakeFor, type WakePorts } from './wake.ts';

/** A run that waits is restored first, and turns have time to end. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 250;

/** Gives a command to a run of the pool, wherever it is, and waits for the answer. Throws what its worker refuses it with. */
export async function askRun<Verb extends RemoteVerb>(
  { host, clock, store, trigger }: WakePorts & { readonly host: Host; readonly clock: Clock },
  run: PoolRun,
  verb: Verb,
  command: RemoteCommands[Verb],
): Promise<RemoteAnswers[Verb]> {
  const { id } = await store.command(run.id, verb, plainJson(command), operatorOf(host));
  // One that no worker has needs it.
  await wakeFor({ trigger }, run);
  for (const until = clock.monotonic() + PATIENCE_MS; clock.monotonic() < until; await clock.sleep(LOOK_MS)) {
    const found = await store.findCommand(id);
    if (found !== undefined && found.doneAt !== null) return readAnswer(found.answer) as unknown as RemoteAnswers[Verb];
  }
  throw new SquadError({
    code: 'workspace-busy',
    message: `no worker has done this within ${PATIENCE_MS / 1000} s. It is stored, and is done once one has ${plainLine(run.name, 80)}`,
    next: 'See what the run waits for with `squad pool`.',
  });
}
