import type { EvidenceFacts, DocumentFacts } from '../../model/plan/evidence.ts';
import type { TaskState } from '../../model/plan/board.ts';
import type { Requirement } from '../../model/plan/task.ts';
import type { WorkEvent } from '../../model/plan/work.ts';
import { isHandOff, type BaseDecision } from '../../rules/base.ts';
import { decideEvidence } from '../../rules/evidence.ts';
import type { CommitsAnswer, TaskFolder } from '../../substrate/ports/workspaces.ts';
import { describeCheckers, findCheckers } from './find-checkers.ts';
import { openPlace } from './open-place.ts';
import { DETACHED } from './publish-run.ts';
import { createCheckFolder, agentsFolder, type CheckFolder } from './check-folder.ts';
import { shortHash, type OperationPorts } from './operation-ports.ts';
import { RUNS_AT_ONCE } from '../../rules/check-again.ts';
import { hasBegun, runCheck, setupFacts } from './run-checks.ts';
import { CRITERION_MS, MINUTE, notRun, renewMade } from './run-commands.ts';
import { lostWork, seeFolder, seeWork, type Seen } from './see-work.ts';
import { sha256Of } from '../../model/sha256.ts';
import { documentProblems } from './document-problems.ts';
import { DOCUMENT } from './document-texts.ts';

/**
 * Looks at the work itself after an agent says that it is done, or when a check is due. `base`: where the work started. `head`:
 * the commit that the run delivered last.
 */
export async function gatherEvidence(
  ports: OperationPorts,
  state: TaskState,
  { base, head, checking }: { base: BaseDecision; head: string; checking: readonly string[] },
): Promise<WorkEvent> {
  const { task, work } = state;
  const own = task.workspace === 'own' && task.kind === 'work';
  const attempt = `${task.id}-${Math.max(1, work.attempts)}`;
  const keepCommits = async (): Promise<CommitsAnswer> =>
    ports.workspaces.keepCommits({ run: ports.definition.name, task: task.id }, attempt);
  // Before anything that can fail.
  let taken = own ? await keepCommits() : null;
  if (taken?.type === 'gone' && taken.kept === undefined) {
    return { type: 'evidence-gathered', facts: lostWork(attempt, head) };
  }
  // A turn without a folder of its own looked at this commit.
  const commit = !own && base.base === 'commit' ? base.commit : null;
  const kept = taken?.type === 'gone' ? taken.kept : own ? (work.kept ?? undefined) : undefined;
  const place = { folder: task.id, commit, own, head, kept };
  // Only commands need what `setup` makes.
  const wants = (): boolean => task.requires.some(({ kind }) => kind === 'command');
  const number = Math.max(1, work.attempts);
  const opened = await openPlace(ports, place, { task: task.id, name: attempt, number, wants });
  if (opened.type === 'refused' || opened.folder === null) return giveUp(opened);
  const { folder } = opened;
  if (taken?.type === 'gone') taken = await keepCommits();
  if (taken?.type === 'gone') return { type: 'evidence-gathered', facts: lostWork(attempt, head) };
  const seen = taken === null ? seeFolder(folder) : await seeWork(ports, folder, attempt, { taken, delivered: head });
  const facts: EvidenceFacts = {
    ...seen,
    ...(await alteredOf(ports, state, folder, seen.commit ?? seen.head)),
    files: await filesOf(ports, task.requires, seen.commit ?? seen.head),
    ...(await documentsOf(ports, task.requires, seen.commit ?? seen.head)),
    commands: await commandsOf(ports, state, folder, seen.commit ?? seen.head),
    ...(await subjectsOf(ports, task.requires, seen)),
    ...(await checkersOf(ports, state, seen, checking)),
    ...(await pullRequestOf(ports, state, seen.commit)),
  };
  return { type: 'evidence-gathered', facts: { ...facts, ...(await ignoredIn(ports, state, folder, seen, facts)) } };
}

async function subjectsOf(
  { workspaces }: OperationPorts,
  requires: readonly Requirement[],
  { base, head }: Seen,
): Promise<Pick<EvidenceFacts, 'subjects'>> {
  if (!requires.some(({ kind }) => kind === 'subject')) return {};
  const made = await workspaces.commitsBetween(base, head, 'without-merges');
  return { subjects: made.map(({ subject }) => subject) };
}

/** For its reviewers. */
async function checkersOf(
  ports: OperationPorts,
  { task }: TaskState,
  { base, commit }: Seen,
  checking: readonly string[],
): Promise<Pick<EvidenceFacts, 'checkers'>> {
  if (task.review === undefined || commit === null) return {};
  const range = { base, commit };
  const checkers = await describeCheckers(ports, await findCheckers(ports, checking, range), { ...range, words: [] });
  return checkers.length === 0 ? {} : { checkers };
}

/** Looks only if the evidence lacks something: git may ignore the files that are missing. */
async function ignoredIn(
  { workspaces }: OperationPorts,
  { task, work }: TaskState,
  folder: TaskFolder,
  { head }: Seen,
  facts: EvidenceFacts,
): Promise<Pick<EvidenceFacts, 'ignored'>> {
  const owes = { requires: task.requires, judged: true, returned: work.commit };
  if (facts.problem !== undefined || decideEvidence(owes, facts).ok) return {};
  const { paths, more } = await workspaces.ignoredWork(folder, head);
  return paths.length === 0 ? {} : { ignored: { paths: [...paths], more } };
}

/** Changes that a hand-off made to reviewed work without a conflict or a failed `verify`: no agent has reviewed them. */
async function alteredOf(
  { workspaces }: OperationPorts,
  { task, work }: TaskState,
  folder: TaskFolder,
  commit: string,
): Promise<Pick<EvidenceFacts, 'altered'>> {
  if (!isHandOff(task) || work.returns.conflict + work.returns.verify > 0) return {};
  return { altered: (await workspaces.changedFiles(folder.base, commit)).map(({ path }) => path) };
}

async function filesOf(
  { workspaces }: OperationPorts,
  requires: readonly Requirement[],
  commit: string,
): Promise<string[]> {
  const found = await Promise.all(
    requires.map(async (one) => {
      if (one.kind === 'file') return (await workspaces.isFileAt(commit, one.path)) ? [one.path] : [];
      if (one.kind !== 'absent') return [];
      const path = one.path.replace(/\/+$/, '');
      return (await workspaces.readFileAt(commit, path, 0)) === 'absent' ? [] : [one.path];
    }),
  );
  return found.flat();
}

/**
 * Runs every command, even after one fails; in turn, because they share a folder. A task that checks gets the commit and what
 * `setup` made before each one; an agent's folder is its own.
 */
async function commandsOf(
  ports: OperationPorts,
  { task, work }: TaskState,
  folder: TaskFolder,
  commit: string,
): Promise<EvidenceFacts['commands']> {
  const steps = task.requires.flatMap((requirement) => {
    if (requirement.kind !== 'command') return [];
    const { run, timeoutMs } = requirement;
    // A command of `verify` has its own time and variables here too.
    const own = ports.definition.verify.find((step) => step.run === run);
    const wallMs = timeoutMs ?? (own === undefined ? CRITERION_MS : Math.ceil(own.minutes * MINUTE));
    const id = `evidence-${shortHash(`${task.id} ${run}`)}-${commit.slice(0, 12)}-${work.round}`;
    return [{ id, task: task.id, run, env: own?.env, wallMs, purpose: 'evidence' as const }];
  });
  if (steps.length === 0) return [];
  const isCheck = task.kind === 'check';
  const goesOn = steps.some(({ id }) => hasBegun(ports, id));
  const tries = Math.max(1, work.attempts);
  const open = async (): Promise<TaskFolder> => folder;
  const checkFolder = isCheck
    ? createCheckFolder(ports, { task: task.id, tries, anew: false, goesOn, open })
    : agentsFolder(folder);
  const renewed = isCheck || goesOn ? undefined : await renewMade(ports, folder, { task: task.id, tries, commit });
  if (renewed?.ok === false) {
    if (!renewed.ran) throw notRun(task.id, renewed.output);
    return steps.map(({ run }) => ({ run, passed: false, output: renewed.output }));
  }
  const commands: EvidenceFacts['commands'] = [];
  for (const step of steps) commands.push(await evidenceOf(ports, checkFolder, step, isCheck));
  return commands;
}

async function evidenceOf(
  ports: OperationPorts,
  checkFolder: CheckFolder,
  step: Parameters<typeof runCheck>[2],
  isCheck: boolean,
): Promise<EvidenceFacts['commands'][number]> {
  try {
    return await runCheck(ports, checkFolder, step, isCheck ? RUNS_AT_ONCE : 1);
  } catch (error) {
    return { run: step.run, passed: false, output: setupFacts(error).output };
  }
}

/** The engine pushes the commit and opens the pull request: an agent has no network. */
async function pullRequestOf(
  ports: OperationPorts,
  { task }: TaskState,
  commit: string | null,
): Promise<Pick<EvidenceFacts, 'pr' | 'prProblem'>> {
  const { forge, definition } = ports;
  if (commit === null || !task.requires.some(({ kind }) => kind === 'pr')) return { pr: null };
  const remote = definition.publish?.remote ?? 'origin';
  const base = definition.publish?.base ?? definition.repository.branch;
  if (base === undefined) return { pr: null, prProblem: DETACHED };
  const branch = `squad/${definition.name}-${task.id}`;
  const pushed = await forge.push({ remote, branch, commit });
  if (pushed.type === 'refused') return { pr: null, prProblem: problemOf(pushed) };
  const body = `Task ${task.id} of “${definition.objective.title}”.`;
  const opened = await forge.openPullRequest({ remote, branch, base, title: task.title, body });
  if (opened.type === 'found') return { pr: { ...opened.pullRequest } };
  return { pr: null, prProblem: opened.type === 'refused' ? problemOf(opened) : 'the forge shows none' };
}

function problemOf({ why, next }: { readonly why: string; readonly next?: string }): string {
  return next === undefined ? why : `${why}. ${next}`;
}

function giveUp(opened: Awaited<ReturnType<typeof openPlace>>): WorkEvent {
  const why = opened.type === 'refused' ? opened.failure.message : 'the task has no folder';
  return { type: 'settle-asked', as: 'failed', why };
}

/** A larger document is refused without being read. */
const MOST_KIB = 256;

/** The required documents as they are in the commit, whatever the folder shows. */
async function documentsOf(
  { workspaces }: Pick<OperationPorts, 'workspaces'>,
  requires: readonly Requirement[],
  commit: string,
): Promise<Pick<EvidenceFacts, 'documents'>> {
  const wanted = requires.flatMap((one) => (one.kind === 'document' ? [one] : []));
  if (wanted.length === 0) return {};
  const documents = await Promise.all(
    wanted.map(async ({ path, headings }) =>
      factsOf(path, headings, await workspaces.readFileAt(commit, path, MOST_KIB * 1024)),
    ),
  );
  return { documents };
}

function unreadText(why: 'absent' | 'not-a-file' | 'too-large'): string {
  if (why === 'too-large') return DOCUMENT.tooLarge(MOST_KIB);
  return why === 'absent' ? DOCUMENT.absent : DOCUMENT.notAFile;
}

function factsOf(
  path: string,
  headings: readonly string[],
  content: Uint8Array | Parameters<typeof unreadText>[0],
): DocumentFacts {
  const unread = { path, sha256: null, bytes: 0 };
  if (typeof content === 'string') return { ...unread, problems: [`${path}: ${unreadText(content)}`] };
  const sha256 = sha256Of(content);
  const problems = documentProblems(content, headings).map((problem) => `${path}: ${problem}`);
  return { path, sha256, bytes: content.length, problems };
}
