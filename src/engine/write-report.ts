import type { Composition } from '../compose.ts';
import { letThroughBy } from '../preflight/secrets.ts';
import { writeRunFile } from './run-files.ts';
import type { RunResources } from './run-resources.ts';
import type { Conclusion } from '../graph/decisions/conclude.ts';
import type { TaskFailure } from '../model/task-failure.ts';
import { failuresOf } from '../read-model/explain-failure.ts';
import { mailOf } from '../read-model/mail-reading.ts';
import { nextCommandsOf } from '../read-model/next-commands.ts';
import { standingOf } from '../read-model/run-state.ts';
import { readRun } from '../read-model/read-run.ts';
import { renderReport } from '../report/report.ts';
import { listKeptWork } from '../substrate/git/run-refs.ts';
import type { Workspaces } from '../substrate/ports/workspaces.ts';

/** What a run's end reports besides its outcome. */
export interface WrittenReport {
  /** null if the run is not over. */
  readonly conclusion: Conclusion | null;
  /** Path of report.md. */
  readonly report: string;
  /** The open questions. */
  readonly questions: readonly { readonly id: string; readonly text: string; readonly options: readonly string[] }[];
  readonly failures: readonly TaskFailure[];
  /** Commands that continue the run, the most likely first. */
  readonly next: readonly string[];
}

/** Writes `report.md` from the current ledger and git. */
export async function writeReport(
  ports: Pick<Composition, 'clock' | 'git' | 'redactor'>,
  resources: RunResources,
  workspaces: Workspaces,
  runId: string,
): Promise<WrittenReport> {
  const reading = readRun(resources.ledger, runId, null);
  const { base, root } = reading.definition.repository;
  const head = await workspaces.runHead(reading.definition.name);
  // Commits and file names come from agents and not from the ledger, so they may hold secrets.
  const git = ports.redactor(letThroughBy(reading.definition)).json({
    base,
    ...(head === undefined ? {} : { head }),
    commits: head === undefined ? [] : await workspaces.commitsBetween(base, head),
    diffStat: head === undefined ? '' : await workspaces.diffStat(base, head),
    kept: await listKeptWork(ports.git, root, reading.definition.name),
  });
  const mail = mailOf(resources.ledger, runId);
  const now = ports.clock.now();
  const report = writeRunFile(resources.directory, runId, 'report.md', renderReport(reading, now, git, mail));
  const standing = standingOf(reading, now);
  // A finished run has no question to answer.
  const open = standing.conclusion !== null ? [] : reading.questions.filter(({ recorded }) => recorded === null);
  const questions = open.map(({ id, text, options }) => ({ id, text, options: [...options] }));
  const failures = failuresOf(reading, git.kept);
  return {
    report,
    questions,
    failures,
    next: nextCommandsOf(reading, standing, failures),
    conclusion: standing.conclusion,
  };
}
