import type { Board, TaskState } from '../../model/plan/board.ts';
import type { PlanNews } from '../../model/plan/event.ts';
import type { Phase, WorkEvent } from '../../model/plan/work.ts';
import { foreignName } from '../../model/run.ts';
import type { ConflictedFile, IntegrationAnswer } from '../../substrate/ports/workspaces.ts';
import { decideRun } from '../../rules/check-again.ts';
import { changesOf } from '../../rules/check-notes.ts';
import { createCheckFolder } from './check-folder.ts';
import type { OperationPorts } from './operation-ports.ts';
import { hasVerifyBegun, runVerify } from './run-checks.ts';

type At<P extends Phase['at']> = Extract<Phase, { at: P }>;

/** Merges the work onto the run branch as a candidate, without moving the branch. */
export async function integrateWork(
  ports: OperationPorts,
  state: TaskState,
  phase: At<'integrating'>,
  delivered: string,
): Promise<WorkEvent> {
  const { definition, workspaces } = ports;
  const head = await workspaces.runHead(definition.name);
  if (head !== delivered) return { type: 'branch-foreign', head: head ?? null };
  const { id, title } = state.task;
  const message = `Merge ${id}: ${title.replaceAll(/\s+/g, ' ').slice(0, 120)}`;
  const answer = await workspaces.integrate({ run: definition.name, commit: phase.commit, message });
  return eventOf(answer, delivered);
}

function eventOf(answer: IntegrationAnswer, delivered: string): WorkEvent {
  // The branch was moved or deleted between the check and the merge.
  if (answer.type !== 'refused' && answer.onto !== delivered) return { type: 'branch-foreign', head: answer.onto };
  switch (answer.type) {
    case 'candidate':
      return { type: 'integrated', candidate: answer.commit };
    case 'empty':
      return { type: 'integrated', candidate: answer.onto };
    case 'conflict':
      return { type: 'conflict', files: answer.files.map(conflictLine), head: answer.onto };
    case 'refused':
      return refusalOf(answer, delivered);
  }
}

function refusalOf(answer: Extract<IntegrationAnswer, { type: 'refused' }>, delivered: string): WorkEvent {
  const conflict = (files: string[]): WorkEvent => ({ type: 'conflict', files, head: delivered });
  switch (answer.reason) {
    case 'escaping-links':
      return conflict(answer.links.map(({ path, target }) => `${path} (a link to ${target}, outside the repository)`));
    case 'unrelated-history':
      return conflict(['all files: the work shares no history with the run branch']);
    case 'gone':
      return { type: 'branch-foreign', head: null };
  }
}

const EXCERPT = 600;

function conflictLine({ path, excerpt }: ConflictedFile): string {
  return excerpt === '' ? path : `${path}\n${excerpt.slice(0, EXCERPT)}\n`;
}

/** Runs the `verify` commands on the merged candidate. */
export async function verifyCandidate(
  ports: OperationPorts,
  { task, work }: TaskState,
  { candidate }: At<'verifying'>,
  { baseline }: Pick<Board, 'baseline'>,
): Promise<WorkEvent> {
  const { definition, workspaces } = ports;
  const run = decideRun(work, candidate);
  const order = {
    task: task.id,
    baseline,
    commit: candidate,
    name: 'verify',
    runs: { first: run, last: run },
  } as const;
  const checkFolder = createCheckFolder(ports, {
    ...{ task: task.id, tries: 1, anew: run > 1, goesOn: hasVerifyBegun(ports, order, run) },
    open: async () => workspaces.integrationAt(definition.name, candidate),
  });
  const ran = await runVerify(ports, checkFolder, order);
  const failed = ran.find(({ passed }) => !passed);
  const changed = changesOf(ran);
  return {
    ...{ type: 'verified', candidate, passed: failed === undefined, output: failed?.output ?? '' },
    ...(failed === undefined ? {} : { command: failed.run }),
    ...(changed.length === 0 ? {} : { changed }),
  };
}

/** Moves the run branch to the verified candidate by compare-and-swap. */
export async function advanceBranch(
  ports: OperationPorts,
  phase: At<'advancing'>,
  delivered: string,
): Promise<WorkEvent> {
  const { definition, workspaces } = ports;
  const answer = await workspaces.advance(definition.name, delivered, phase.candidate);
  return answer.type === 'advanced'
    ? { type: 'branch-advanced', commit: phase.candidate }
    : { type: 'branch-foreign', head: answer.head ?? null };
}

type Restored = Extract<PlanNews, { type: 'branch-restored' }>;

/** Moves the run branch back to the commit in the ledger, and keeps the other commit at a ref of the run. */
export async function restoreBranch({ workspaces, definition }: OperationPorts, { branch }: Board): Promise<Restored> {
  const { name } = definition;
  const done: Restored = { type: 'branch-restored', restored: true, head: branch.head, paths: [] };
  const head = await workspaces.runHead(name);
  if (head === branch.head) return done;
  if (head !== (branch.foreign?.head ?? undefined)) return { ...done, restored: false, head: head ?? null };
  if (head === undefined) {
    const made = await workspaces.createRunBranch(name, branch.head);
    return made.type === 'ready' ? done : { ...done, restored: false, head: made.head };
  }
  await workspaces.keepAttempt(name, foreignName(head), head);
  const answer = await workspaces.advance(name, head, branch.head);
  return answer.type === 'advanced' ? done : { ...done, restored: false, head: answer.head ?? null };
}
