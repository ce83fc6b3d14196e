import type { Clock } from '../substrate/ports/clock.ts';
import type { Workspaces } from '../substrate/ports/workspaces.ts';
import { readRun } from '../report/read-run.ts';
import { mailOf } from '../report/mail-reading.ts';
import { renderReport } from '../report/report.ts';
import { writeRunFile, type Desk } from './desk.ts';

/** `report.md` as the ledger and git tell it now. Returns its path and the questions that are open. */
export async function writeReport(
  ports: { readonly clock: Clock },
  desk: Desk,
  workspaces: Workspaces,
  runId: string,
): Promise<{ report: string; questions: { id: string; text: string; options: string[] }[] }> {
  const reading = readRun(desk.ledger, runId, null);
  const { base } = reading.definition.repository;
  const head = await workspaces.runHead(reading.definition.name);
  const git = {
    base,
    ...(head === undefined ? {} : { head }),
    commits: head === undefined ? [] : await workspaces.commitsBetween(base, head),
    diffStat: head === undefined ? '' : await workspaces.diffStat(base, head),
  };
  const mail = mailOf(desk.ledger, runId);
  const report = writeRunFile(desk.directory, runId, 'report.md', renderReport(reading, ports.clock.now(), git, mail));
  const open = reading.questions.filter(({ recorded }) => recorded === null);
  const questions = open.map(({ id, text, options }) => ({ id, text, options: [...options] }));
  return { report, questions };
}
