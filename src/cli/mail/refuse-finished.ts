import { SquadError } from '../../model/errors.ts';
import type { OpenedMail } from './open-mail.ts';

/** Throws where the run is finished: no agent would read it, and nothing would come of it. */
export async function refuseFinished({ ledger, run }: Pick<OpenedMail, 'ledger' | 'run'>): Promise<void> {
  const last = ledger.segments(run.id).at(-1);
  // An engine has the run, or died with it: only one that ended it has released it.
  if (last === undefined || last.releasedAt === null) return;
  const { RUN_EVENTS } = await import('../../model/run.ts');
  if (!ledger.events({ stream: run.id }).some(({ type }) => type === RUN_EVENTS.published)) return;
  // To fold a run takes time, and so does loading what folds it.
  const { findRun, isOver } = await import('../../report/read-run.ts');
  const reading = findRun(ledger, run.id, null);
  if (reading === undefined || !isOver(reading)) return;
  const other = 'start another run: `squad run objective.md`';
  const { refusalOf } = await import('../../report/foresee.ts');
  const task = [...reading.board.tasks.keys()].find(
    (id) => refusalOf(reading, { verb: 'retry', task: id, fresh: false }) === undefined,
  );
  throw new SquadError({
    code: 'usage',
    message: `run ${run.name} is finished: no agent reads mail any more`,
    next:
      task === undefined
        ? `To have more done, ${other}.`
        : `Open it again with \`squad retry ${task} --run ${run.name} --note "…"\`, or ${other}.`,
  });
}
