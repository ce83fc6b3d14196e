import type { OpenedMail } from './open-mail.ts';

/** Throws if the run is finished, because no agent would read the mail. */
export async function refuseFinished(opened: Pick<OpenedMail, 'ledger' | 'run'>): Promise<void> {
  const last = opened.ledger.segments(opened.run.id).at(-1);
  // A claimed run is not finished: an engine drives it or died. The module that reads a run takes time to load.
  if (last === undefined || last.releasedAt === null) return;
  const { finishedRun } = await import('./finished-run.ts');
  const finished = finishedRun(opened);
  if (finished !== undefined) throw finished;
}
