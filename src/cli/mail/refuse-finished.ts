import type { OpenedMail } from './open-mail.ts';

/** Throws where the run is finished: no agent would read it, and nothing would come of it. */
export async function refuseFinished(opened: Pick<OpenedMail, 'ledger' | 'run'>): Promise<void> {
  const last = opened.ledger.segments(opened.run.id).at(-1);
  // An engine has the run, or died with it: only one that ended it has released it. What reads a run takes time to load.
  if (last === undefined || last.releasedAt === null) return;
  const { finishedRun } = await import('./finished-run.ts');
  const finished = finishedRun(opened);
  if (finished !== undefined) throw finished;
}
