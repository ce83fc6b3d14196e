import { join } from 'node:path';
import { compose } from '../../compose.ts';
import { haltRun } from '../../engine.ts';
import { SquadError } from '../../model/errors.ts';
import { openLedger } from '../../substrate/ledger/index.ts';
import type { CommandContext, StopOptions } from '../command-context.ts';
import { openRun, type OpenedRun } from '../open-run.ts';
import { operatorOf } from '../host.ts';

/** A running engine has ten seconds to end its turns, and then writes its report. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 200;

/** Ends the turns of a run, through its engine if one is running. Exit 0 once no process of the run is left. */
export async function stop(context: CommandContext, name: string | undefined, options: StopOptions): Promise<void> {
  const { output, host } = context;
  const run = await openRun(context, name);
  const { row } = run.reading;
  const ended = run.reading.driven
    ? await stopEngine(context, run)
    : await haltRun({ ...compose(host), host }, host.workingDirectory, row.id, operatorOf(host));
  if (options.json === true) {
    output.json({ type: 'run-stopped', at: Date.now(), runId: row.id, name: row.name, ended });
    return;
  }
  const what = ended.length === 0 ? 'no turn was running' : `ended ${ended.join(', ')}`;
  output.line(`${row.name} is stopped: ${what}.`);
  if (run.reading.published === undefined) output.line(`Continue with \`squad resume ${row.name}\`.`);
}

async function stopEngine(context: CommandContext, { reading, directory, composition }: OpenedRun): Promise<string[]> {
  const { row } = reading;
  const ledger = openLedger(directory, composition);
  try {
    ledger.command(row.id, 'stop', {}, operatorOf(context.host));
    const live = ledger.attempts({ runId: row.id }).filter(({ status }) => status !== 'settled');
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until;) {
      await composition.clock.sleep(LOOK_MS);
      if (ledger.segments(row.id).at(-1)?.releasedAt !== null) return live.map(({ id }) => id);
      context.output.status?.(`waiting for the engine to end ${live.length} attempts`);
    }
  } finally {
    context.output.status?.('');
    ledger.close();
  }
  throw new SquadError({
    code: 'workspace-busy',
    message: `the engine of ${row.name} did not end within ${PATIENCE_MS / 1000} s`,
    next: `End the process that ${join(directory, 'lock.json')} names, then run \`squad stop\` again.`,
  });
}
