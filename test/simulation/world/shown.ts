import { renderStatus } from '../../../src/cli/render/status-board.ts';
import { statusOf, type RunStatus } from '../../../src/view/status.ts';
import { mailOf, viewOf } from '../../../src/view/view-of.ts';
import type { RunEvent } from '../../../src/model/run-event.ts';
import type { RunHistory } from '../../../src/view/read-run.ts';
import { openRunEvents } from '../../../src/view/run-events.ts';
import type { Ledger } from '../../../src/substrate/ports/ledger.ts';
import { renderReport } from '../../view/report/render-report.ts';
import type { SimulatedRepository } from './simulated-repository.ts';
import type { Stage } from './stage.ts';

/** What people and programs are told of a run that is over. */
export interface Shown {
  readonly status: RunStatus;
  readonly screen: string;
  readonly report: string;
  /** Of a view that is opened at the end. */
  readonly events: readonly RunEvent[];
}

/** By the code that a command line shows it with. */
export async function showRun(
  { time, repository }: Pick<Stage, 'time' | 'repository'>,
  ledger: Ledger,
  reading: RunHistory,
): Promise<Shown> {
  const { workspaces, base } = repository;
  const now = time.now();
  const mail = mailOf(ledger, reading.row.id);
  const status = statusOf(viewOf(reading, { now, mail }));
  const head = await workspaces.runHead(reading.definition.name);
  const facts = head === undefined ? { commits: [], diffStat: '' } : { head, ...(await changesOf(repository, head)) };
  return {
    status,
    screen: renderStatus(status, now),
    report: renderReport(reading, now, { base, ...facts }, mail),
    events: openRunEvents(ledger, reading.row.id).look(),
  };
}

async function changesOf({ workspaces, base }: SimulatedRepository, head: string) {
  return { commits: await workspaces.commitsBetween(base, head), diffStat: await workspaces.diffStat(base, head) };
}
