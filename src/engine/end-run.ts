import { join } from 'node:path';
import type { Composition } from './compose.ts';
import { errorText } from '../model/errors.ts';
import type { Playbook } from '../model/plan.ts';
import { exitCodeOf, type RunOutcome } from '../model/run-state.ts';
import type { FolderWritten } from '../model/folder-written.ts';
import { SPRINT } from '../model/playbook-name.ts';
import type { RunEvent } from '../model/run-event.ts';
import { branchOf, placedAt, RUN_EVENTS, type RunDefinition } from '../model/run.ts';
import { isStorageError, machineError } from '../model/storage-error.ts';
import { letThroughBy } from '../model/let-through.ts';
import { workOf } from '../view/next-commands.ts';
import { readHistory, writtenBy, type RunHistory } from '../view/read-run.ts';
import type { RunView } from '../view/run-view.ts';
import { endOf, type RunEnd } from '../view/running-run.ts';
import { mailOf, repositoriesIn, viewOf } from '../view/view-of.ts';
import { foldPatch } from '../view/report/patch.ts';
import { renderMarkdown } from '../view/report/markdown.ts';
import { renderPage } from '../view/report/page.ts';
import type { RunFile } from '../view/report/files/run-file.ts';
import { reportOf } from '../view/report/report.ts';
import { timelineOf } from '../view/report/timeline.ts';
import { runFolder } from '../substrate/system/files/run-files.ts';
import type { WorkPlace } from '../model/work-place.ts';
import { placeOfWork } from '../substrate/git/place-of-work.ts';
import { openCheckout } from '../substrate/git/repository.ts';
import { readPatch, readRunChanges } from '../substrate/git/run-changes.ts';
import { backUpAfterRun, ledgerPath } from '../substrate/ledger/index.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';
import type { Workspaces } from '../substrate/ports/workspaces.ts';
import type { Segment, SegmentEnd } from './run-loop.ts';
import { plainJson } from '../text/json.ts';
import { sayingWhatIsLeft } from './left-turns.ts';
import type { PlaceWatch } from './lost-place.ts';
import type { RunFiles } from './sinks/run-files.ts';
import type { RunResources } from './run-resources.ts';
import type { Tracer } from './tracing/tracer.ts';
import type { SegmentOf } from './wire-run.ts';

/** `report`: the path of the one of the `files` that people read first. */
interface Reported {
  readonly view: RunView;
  readonly report: string;
  readonly files: readonly RunFile[];
}

interface ReportPorts extends Pick<Composition, 'clock' | 'git' | 'redactor'> {
  readonly playbook: Playbook<unknown>;
  warn(text: string): void;
}

interface EndPorts extends Omit<ReportPorts, 'warn'>, Pick<Composition, 'processes'> {
  readonly tracer?: Pick<Tracer, 'ended'> | undefined;
  readonly files: RunFiles;
  readonly watch: PlaceWatch;
  onEvent?(event: RunEvent): void;
}

type EndOf = readonly [
  resources: RunResources,
  workspaces: Workspaces,
  segment: Segment,
  of: Pick<SegmentOf, 'definition' | 'lease'>,
];

/** Waits for the end of the segment, however it comes; then writes the files of the run and frees the workspace. */
export async function endRun(ports: EndPorts, ...ending: EndOf): Promise<RunEnd> {
  const [resources, workspaces, , { definition, lease }] = ending;
  const { runId } = lease;
  const warn = (text: string): void => ports.onEvent?.({ type: 'warning', at: ports.clock.now(), runId, text });
  const left = { ledger: resources.ledger, processes: ports.processes, warn };
  try {
    return await sayingWhatIsLeft(left, { runId, name: definition.name }, async () =>
      reportEnd({ ...ports, warn }, ...ending),
    );
  } finally {
    await ports.files.end('interrupted');
    await workspaces.close();
    resources.close();
  }
}

async function reportEnd(
  { warn, ...ports }: EndPorts & Pick<ReportPorts, 'warn'>,
  ...[resources, workspaces, segment, { definition, lease }]: EndOf
): Promise<RunEnd> {
  const { runId } = lease;
  const end = await segmentEnd(ports, resources, segment, lease);
  const release = (): void => resources.ledger.releaseLease(lease, segment.workClock.segmentMs());
  const finished = end.end === 'finished';
  // Before the report, which says whether it is complete.
  const written = await ports.files.endFolders(runOutcome(end, segment.control.stopped()));
  noteWritten(resources.ledger, { definition, lease }, written);
  if (!finished) release();
  // A repository that was moved meanwhile does not tell. The next engine writes the report of a finished run.
  const named = branchOf(definition);
  const head = named === undefined ? undefined : await workspaces.runHead(definition.name);
  // The end of a cancelled run removes an empty one.
  const isGone = head === undefined && finished && end.outcome === 'cancelled';
  const { root } = definition.repository;
  const { view, report, files } = await makeReport({ ...ports, warn }, resources, workspaces, { runId, root });
  ports.tracer?.ended(view);
  const { outcome, headline, exitCode } = view.end ?? leftAs(runOutcome(end, segment.control.stopped()), end.why);
  // A repository that was moved meanwhile looks like one without the work. The next engine ends the run.
  const loss = finished && exitCode !== 0 ? ports.watch.findLoss() : undefined;
  if (loss !== undefined) {
    release();
    throw loss;
  }
  await ports.files.end(outcome, files);
  if (finished) {
    resources.ledger.note(lease, RUN_EVENTS.ended, plainJson(view));
    // Last: an engine that is killed before this leaves the files to the engine that resumes.
    release();
  }
  // Since the last look at them.
  if (ports.watch.putBack() === 'ledger') warn('the ledger was deleted while the run ended. squad has written it back');
  if (finished) await keepBackup(ports, resources, runId);
  const { why } = end;
  return { ...endOf(view, report), outcome, headline, why, exitCode, branch: isGone ? undefined : named, head };
}

/** The result of an engine that stops while its run is not over. */
function leftAs(outcome: RunOutcome, why: string) {
  return { outcome, headline: `${outcome.toUpperCase()}, ${why}`, exitCode: exitCodeOf(outcome) };
}

/** Records what was written, and whether it is complete, where the ledger says otherwise. */
function noteWritten(
  ledger: Ledger,
  { definition, lease }: Pick<SegmentOf, 'definition' | 'lease'>,
  written: readonly FolderWritten[],
): void {
  const before = writtenBy(ledger, lease.runId, definition);
  for (const one of written) {
    if (before.some(({ sink, problem }) => sink === one.sink && problem === one.problem)) continue;
    ledger.note(lease, RUN_EVENTS.folder, plainJson(one));
  }
}

/** A run that `stop` cut short is stopped, not interrupted. */
function runOutcome(end: SegmentEnd, stoppedBy: string | undefined): RunOutcome {
  if (end.end === 'finished') return end.outcome;
  return stoppedBy === undefined ? end.end : 'stopped';
}

/**
 * If the machine is broken, leaves the turns running for the next engine to adopt. If the stores or the repository are
 * gone, no next engine could: then it ends the turns.
 */
async function segmentEnd(
  { watch }: Pick<EndPorts, 'watch'>,
  { ledger }: RunResources,
  segment: Segment,
  lease: Lease,
): Promise<SegmentEnd> {
  try {
    return await segment.done;
  } catch (thrown) {
    const loss = watch.findLoss();
    const error = loss ?? machineError(thrown);
    if (loss !== undefined) {
      await segment.control.cancel(loss.message);
      watch.putBack();
    }
    await segment.supervisor.detach();
    const pause = isStorageError(error) ? error.message : undefined;
    releaseAfterFailure(ledger, lease, segment.workClock.segmentMs(), pause);
    throw error;
  }
}

/** `pause`: why the run waits for the disk. On a full disk the first try frees the ballast for the second. */
function releaseAfterFailure(ledger: Ledger, lease: Lease, workedMs: number, pause: string | undefined): void {
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      if (pause !== undefined) ledger.note(lease, RUN_EVENTS.decided, { next: 'stop', because: 'waiting', why: pause });
      return ledger.releaseLease(lease, workedMs);
    } catch {
      // The error that ended the segment says why.
    }
  }
}

/** Backs up the ledger after the run has ended. A failed backup, for example on a full disk, does not fail the run. */
async function keepBackup(ports: EndPorts, { directory }: RunResources, runId: string): Promise<void> {
  try {
    await backUpAfterRun(ledgerPath(directory), ports.clock.now());
  } catch (error) {
    const text = `the ledger was not backed up: ${errorText(error)}`;
    ports.onEvent?.({ type: 'warning', at: ports.clock.now(), runId, text });
  }
}

/** The run has ended, even if git fails now: then this warns, and the report has no changes. */
async function readChanges(ports: ReportPorts, workspaces: Workspaces, reading: RunHistory, definition: RunDefinition) {
  try {
    // Then the branch has the part of one repository.
    const whole = reading.published?.repositories && reading.board.branch.head;
    const changes = await readRunChanges(ports.git, workspaces, definition, whole);
    return { changes, patch: await foldPatch(readPatch(ports.git, definition, changes)) };
  } catch (error) {
    ports.warn(`the report shows no changes, because git could not tell them: ${errorText(error)}`);
    const nothing = { base: definition.repository.base, commits: [], diffStat: '', kept: [] };
    return { changes: nothing, patch: await foldPatch(readPatch(ports.git, definition, nothing)) };
  }
}

/** undefined: git could not tell, and the run has ended all the same. */
async function placeNow({ git }: ReportPorts, reading: RunHistory, root: string): Promise<WorkPlace | undefined> {
  // The team closes the sprint after its run.
  if (reading.definition.playbook === SPRINT) return { at: 'line' };
  const work = workOf(reading);
  try {
    if (work !== undefined && reading.published?.repositories !== undefined) {
      const { placeOfSeveral } = await import('../substrate/git/joined/place-of-several.ts');
      return await placeOfSeveral(git, work.run, repositoriesIn(reading));
    }
    return work && (await placeOfWork(git, await openCheckout(git, root), work));
  } catch {
    return undefined;
  }
}

/** `report.md` and `report.html`, from the current ledger and git. */
export async function makeReport(
  ports: ReportPorts,
  resources: RunResources,
  workspaces: Workspaces,
  { runId, root }: { readonly runId: string; readonly root: string },
): Promise<Reported> {
  const reading = readHistory(resources.ledger, runId, null, { [ports.playbook.name]: () => ports.playbook });
  const { changes, patch } = await readChanges(ports, workspaces, reading, placedAt(reading.definition, root));
  // Commits and file names come from agents and not from the ledger, so they may hold secrets.
  const git = ports.redactor(letThroughBy(reading.definition)).json({ ...changes, patch });
  const now = ports.clock.now();
  const mail = mailOf(resources.ledger, runId);
  const view = viewOf(reading, { now, mail, kept: git.kept, place: await placeNow(ports, reading, root) });
  const document = reportOf(reading, view, now, git, mail);
  const { name } = reading.row;
  const page = renderPage(document, { timeline: timelineOf(reading, now), patch: git.patch, run: name });
  const files = [
    { path: 'report.md', text: renderMarkdown(document) },
    { path: 'report.html', text: page },
  ];
  return { view, report: join(runFolder(resources.directory, runId), 'report.md'), files };
}
