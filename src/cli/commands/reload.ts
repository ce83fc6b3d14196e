import { SquadError, usageError } from '../../model/errors.ts';
import { plainJson } from '../../text/json.ts';
import { readReload } from '../../preflight/reload.ts';
import type { CommandContext, ResumeOptions } from '../command-context.ts';
import { askForConsent } from '../new-run.ts';
import { openRun, writeLedger } from '../open-run.ts';
import { operatorOf } from '../host.ts';
import { plainLine } from '../../text/plain-text.ts';

/** Throws `usage` for options that a reload cannot be combined with. */
export function refuseReloadWith({ reload: wanted, all, agent, task }: ResumeOptions): void {
  if (wanted !== true || (all !== true && agent === undefined && task === undefined)) return;
  throw usageError(
    '--reload works on one whole run: it cannot be combined with --all, --agent or --task',
    'Run `squad resume <run> --reload`.',
  );
}

/** Makes a run use `setup`, `verify` and limits as squad.yaml has them now. Asks for consent to new commands and records it. */
export async function reload(context: CommandContext, runId: string, options: ResumeOptions): Promise<void> {
  const { host, output } = context;
  const opened = await openRun(context, runId);
  const { reading, composition } = opened;
  if (reading.driven) {
    throw new SquadError({
      code: 'workspace-busy',
      message: `${reading.row.name} is running with the settings that it began with`,
      next: `Stop it first: \`squad stop ${reading.row.name}\`.`,
    });
  }
  const read = await readReload(
    { ...composition, host, ...askForConsent(context, options) },
    reading.definition,
    reading.limits,
    options.yes === true,
  );
  for (const name of read.kept)
    output.problem(`${name} stays as it was when the run began: its plan was made with it.`);
  if (read.reload === undefined) {
    output.problem('squad.yaml has nothing new for this run.');
    return;
  }
  const { verb, ...data } = read.reload;
  await writeLedger(opened, (ledger) => ledger.command(runId, verb, plainJson(data), operatorOf(host)));
  for (const line of read.changed) output.problem(`From squad.yaml: ${plainLine(line, 400)}`);
}
