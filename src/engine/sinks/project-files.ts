import { criteriaOf } from '../../rules/conclude.ts';
import { isEnded } from '../../rules/work-status.ts';
import { createView } from '../../rules/view.ts';
import { attemptName } from '../../model/attempt-id.ts';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { StageView } from '../../model/plan.ts';
import type { Board, TaskState } from '../../model/plan/board.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { RunDefinition } from '../../model/run.ts';
import { engineTime } from '../../model/spending.ts';
import { isTurn } from '../../view/usage-count.ts';
import { checklistFiles } from '../../view/report/files/checklist-file.ts';
import { failureFiles } from '../../view/report/files/failure-files.ts';
import { askedOn } from '../../view/asked-plan.ts';
import type { RunFile } from '../../view/report/files/run-file.ts';
import { stageIndex, type StageOf } from '../../view/report/files/stage-of.ts';
import { stateFile, type StateView } from '../../view/report/files/state-file.ts';
import { turnFile } from '../../view/report/files/turn-file.ts';
import { removeUnfinished } from '../../substrate/system/files/run-files.ts';
import { writtenFolder, type WrittenFolder } from '../../substrate/system/files/written-folder.ts';
import type { Moment, OpenSink, SinkOf, SinkPorts, SinkWork } from './sink.ts';
import type { Workspaces } from '../../substrate/ports/workspaces.ts';
import { asObject } from '../../text/json.ts';
import { sha256Of } from '../../model/sha256.ts';
import { type CopiedDocument, deliveredDocuments, INDEX, indexFile } from '../../view/report/files/artifact-files.ts';

/** Settled turns that are read at once: the engine works between two of them. */
const BATCH = 10;

/** The folder of the run itself. */
export const FILES: SinkWork = {
  isLast: true,
  open: (ports, of) => {
    const project = createProjector(ports, of, withoutSecrets(writtenFolder(of.folder), ports.redactor));
    let isClean = false;
    return {
      folder: of.folder,
      write: async (moment) => {
        if (!isClean) await removeUnfinished(of.folder);
        isClean = true;
        await project(moment);
      },
    };
  },
};

/** The report, in the folder of the run. */
export const REPORT: SinkWork = {
  isLast: true,
  open: (_ports, { folder }) => ({
    folder,
    report: async (files) => {
      const own = writtenFolder(folder);
      const written = await Promise.allSettled(files.map(async ({ path, text }) => own.put(path, text)));
      for (const one of written) if (one.status === 'rejected') throw one.reason;
    },
  }),
};

/** The bytes of documents stay as they were delivered. */
function withoutSecrets(folder: WrittenFolder, redactor: Redactor): WrittenFolder {
  const put: WrittenFolder['put'] = async (path, content) =>
    folder.put(path, typeof content === 'string' ? redactor.text(content) : content);
  return { ...folder, put };
}

export function createProjector(
  ports: Pick<SinkPorts, 'ledger' | 'playbook' | 'workspaces'>,
  of: Omit<SinkOf, 'folder'>,
  folder: WrittenFolder,
): NonNullable<OpenSink['write']> {
  const { playbook, workspaces } = ports;
  const putAll = async (files: readonly RunFile[]): Promise<void> => {
    for (const { path, text } of files) await folder.put(path, text);
  };
  const writeTurns = createTurnWriter(ports.ledger, of, putAll);
  const copyDocuments = createArtifacts(workspaces, folder);
  let shown: Moment | undefined;
  let copied: readonly string[] = [];
  const writeEnds = async (board: Board, stages: readonly StageView[], stageOf: StageOf): Promise<void> => {
    const failures = failureFiles(of.definition, board, stages);
    await putAll(failures);
    await folder.keepOnly(
      'failures',
      failures.map(({ path }) => path.slice(path.indexOf('/') + 1)),
    );
    copied = await copyDocuments(board, stageOf);
  };
  return async (moment) => {
    const { board, state } = moment;
    const view = createView(board);
    const stages = playbook.stages?.(view) ?? [];
    const shows = viewOf(ports.ledger, of, moment, stages);
    const stageOf = stageIndex(stages);
    if (shown === undefined) await folder.put('objective.md', of.definition.objective.text);
    await writeTurns(board, stageOf);
    if (board !== shown?.board) {
      const own = playbook.files?.(view) ?? [];
      await putAll([...own.map(({ path, text }) => ({ path: `files/${path}`, text })), ...checklistFiles(shows)]);
    }
    const { hasMoved, hasEnded } = changeBetween(shown?.board, board);
    if (hasEnded) await writeEnds(board, stages, stageOf);
    if (stages.length > 0 && (hasMoved || state !== shown?.state)) {
      await putAll([stateFile(shows, copied)]);
    }
    shown = moment;
  };
}

/** `hasEnded`: something has ended, or has been opened again. */
function changeBetween(before: Board | undefined, { tasks, records, finished }: Board) {
  if (before === undefined) return { hasMoved: true, hasEnded: true };
  const changed = tasks.changedSince(before.tasks);
  const isOver = (state: TaskState | undefined): boolean => state !== undefined && isEnded(state);
  const hasEnded =
    finished !== before.finished || changed.some((state) => isOver(state) || isOver(before.tasks.get(state.task.id)));
  return { hasMoved: hasEnded || changed.length > 0 || records !== before.records, hasEnded };
}

/** Writes the turns that have settled since the last call. One that cannot be written is tried again in the next call. */
function createTurnWriter(
  ledger: SinkPorts['ledger'],
  { definition, lease }: Omit<SinkOf, 'folder'>,
  putAll: (files: readonly RunFile[]) => Promise<void>,
): (board: Board, stageOf: StageOf) => Promise<void> {
  let cursor = 0;
  return async (board, stageOf) => {
    for (;;) {
      const events = ledger.events({ stream: lease.runId, after: cursor, types: ['attempt-settled'], limit: BATCH });
      for (const event of events) {
        await putAll(turnsIn(ledger, definition, board, stageOf, event));
        cursor = event.seq;
      }
      if (events.length < BATCH) return;
    }
  };
}

/** None if it was no turn, or no agent ever ran. */
function turnsIn(
  ledger: SinkPorts['ledger'],
  definition: RunDefinition,
  board: Board,
  stageOf: StageOf,
  { data }: LedgerEvent,
): RunFile[] {
  const { attemptId } = asObject(data);
  const attempt = typeof attemptId === 'string' ? ledger.attempt(attemptId) : undefined;
  const settlement = attempt && ledger.settlement(attempt.id);
  if (attempt === undefined || settlement === undefined || !isTurn({ attempt, settlement })) return [];
  const { task, work } = board.tasks.get(attempt.taskId) ?? {};
  const isReview = work?.authors.includes(attempt.agent) === false;
  const file = turnFile({
    ...{ run: definition.name, attempt, settlement, isReview },
    name: attemptName(attempt),
    role: definition.agents.find(({ name }) => name === attempt.agent)?.role ?? '',
    stage: stageOf(attempt.taskId, isReview),
    title: task?.title ?? attempt.taskId,
  });
  return [file];
}

/** The part of the run's view that its files show. It follows from the engine's board: a whole view would fold the ledger again. */
function viewOf(
  ledger: SinkPorts['ledger'],
  { definition, lease: { runId }, limits }: Omit<SinkOf, 'folder'>,
  { board, state }: Moment,
  stages: readonly StageView[],
): StateView {
  const { source, objective } = definition;
  const startedAt = ledger.run(runId)?.createdAt ?? 0;
  return {
    run: { objective: objective.title, runId, source, startedAt, state },
    plan: { criteria: criteriaOf(board) },
    stages,
    use: { elapsedMs: engineTime(ledger.segments(runId)), limits },
    questions: askedOn(board, { definition, limits }),
  };
}

/** Evidence refuses documents of more than 256 KiB, but a person may have accepted one. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Copies the bytes of delivered documents to `artifacts/` and lists them in its index. Reads each from git once. Returns the names
 * of the copies.
 */
function createArtifacts(
  workspaces: Pick<Workspaces, 'readFileAt'>,
  folder: WrittenFolder,
): (board: Board, stageOf: StageOf) => Promise<readonly string[]> {
  const copies = new Map<string, CopiedDocument>();
  return async (board, stageOf) => {
    const listed: CopiedDocument[] = [];
    for (const document of deliveredDocuments(board, stageOf)) {
      const { name, path, commit } = document;
      const known = copies.get(path);
      if (known?.commit === commit) {
        listed.push(known);
        continue;
      }
      const bytes = await workspaces.readFileAt(commit, path, MOST_BYTES);
      // Accepted by a person, although it is not there.
      if (typeof bytes === 'string') continue;
      await folder.put(`artifacts/${name}`, bytes);
      const copy = { ...document, sha256: sha256Of(bytes), bytes: bytes.byteLength };
      copies.set(path, copy);
      listed.push(copy);
    }
    const index = listed.length === 0 ? [] : [indexFile(listed)];
    for (const { path, text } of index) await folder.put(path, text);
    const names = listed.map(({ name }) => name);
    await folder.keepOnly('artifacts', [...names, ...index.map(() => INDEX)]);
    return names;
  };
}
