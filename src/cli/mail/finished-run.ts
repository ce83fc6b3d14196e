import { SquadError, usageError } from '../../model/errors.ts';
import { OF_A_TEAM } from '../../model/playbook-name.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import { requestRefusal } from '../../view/replay-plan.ts';
import { findRun, isOver } from '../../view/read-run.ts';
import type { OpenedMail } from './open-mail.ts';

/** The refusal of mail to a finished run, with the command that opens it again; undefined if the run is not finished. */
export function finishedRun({ ledger, run }: Pick<OpenedMail, 'ledger' | 'run'>): SquadError | undefined {
  // Folding a run takes time, so this check comes first.
  if (!ledger.events({ stream: run.id }).some(({ type }) => type === RUN_EVENTS.published)) return undefined;
  const reading = findRun(ledger, run.id, null);
  if (reading === undefined || !isOver(reading)) return undefined;
  const isOfTeam = OF_A_TEAM.has(reading.definition.playbook);
  const other = isOfTeam ? 'ask the team: `squad request "…"`' : 'start another run: `squad run objective.md`';
  const task = isOfTeam
    ? undefined
    : [...reading.board.tasks.keys()].find(
        (id) => requestRefusal(reading, { verb: 'retry', task: id, fresh: false }) === undefined,
      );
  return usageError(
    `run ${run.name} is finished: no agent reads mail any more`,
    task === undefined
      ? `To have more done, ${other}.`
      : `Open it again with \`squad retry ${task} --run ${run.name} --note "…"\`, or ${other}.`,
  );
}
