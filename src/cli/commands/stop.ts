import { join } from 'node:path';
import { compose } from '../../compose.ts';
import { haltRun } from '../../engine.ts';
import { SquadError } from '../../model/errors.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { openRun, writeLedger, type OpenedRun } from '../open-run.ts';
import { printResult } from '../output.ts';
import { operatorOf } from '../host.ts';

/** A running engine has ten seconds to end its turns, and then writes its report. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 200;

/** Ends the turns of a run, through its engine if one is running. Exit 0 once no process of the run is left. */
export async function stop(context: CommandContext, name: string | undefined, options: JsonOptions): Promise<void> {
  const { output, host } = context;
  const run = await openRun(context, name);
  const { row } = run.reading;
  const ended = run.reading.driven
    ? await stopEngine(context, run)
    : await haltRun({ ...compose(host), host }, host.workingDirectory, row.id, operatorOf(host));
  const what = ended.length === 0 ? 'no turn was running' : `ended ${ended.join(', ')}`;
  printResult(output, options, { type: 'run-stopped', at: Date.now(), runId: row.id, name: row.name, ended }, [
    `${row.name} is stopped: ${what}.`,
    ...(run.reading.published === undefined ? [`Continue with \`squad resume ${row.name}\`.`] : []),
  ]);
}

async function stopEngine({ host, output }: CommandContext, run: OpenedRun): Promise<string[]> {
  const { id, name } = run.reading.row;
  const ended = await writeLedger(run, async (ledger) => {
    ledger.command(id, 'stop', {}, operatorOf(host));
    const live = ledger.attempts({ runId: id }).filter(({ status }) => status !== 'settled');
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until;) {
      await run.composition.clock.sleep(LOOK_MS);
      if (ledger.segments(id).at(-1)?.releasedAt !== null) return live.map((attempt) => attempt.id);
      output.status?.(`waiting for the engine to end ${live.length} attempts`);
    }
    return undefined;
  }).finally(() => output.status?.(''));
  if (ended !== undefined) return ended;
  throw new SquadError({
    code: 'workspace-busy',
    message: `the engine of ${name} did not end within ${PATIENCE_MS / 1000} s`,
    next: `End the process that ${join(run.directory, 'lock.json')} names, then run \`squad stop\` again.`,
  });
}
