import { createHash } from 'node:crypto';
import { plainJson, type Json } from '../text/json.ts';
import type { Board } from '../model/plan/board.ts';
import { SquadError } from '../model/errors.ts';
import { RUN_EVENTS, type PublishFacts } from '../model/run.ts';
import { findForeignHead, pushRun } from './push-run.ts';
import { readBaseline, type OperationPorts } from './operation-ports.ts';

/** What each agent is bound to, as a hash of all of it. */
export function armoryOf({ definition }: Pick<OperationPorts, 'definition'>): Json {
  const agents = definition.agents.map((agent) => ({
    name: agent.name,
    role: agent.role,
    runtime: agent.runtime,
    model: agent.model ?? null,
    access: agent.access.level,
    hash: createHash('sha256').update(JSON.stringify(agent)).digest('hex'),
  }));
  return { agents };
}

/** The run branch at the commit the run was started from, and what git looks like before any agent has run. */
export async function allocateWorkspace(ports: OperationPorts): Promise<void> {
  const { ledger, lease, definition, workspaces } = ports;
  if (readBaseline(ports) !== undefined) return;
  const { base } = definition.repository;
  const branch = `squad/${definition.name}`;
  const answer = await workspaces.createRunBranch(definition.name, base);
  if (answer.type === 'taken') {
    throw new SquadError({
      code: 'bad-input',
      message: `there is a branch ${branch} already, at ${answer.head.slice(0, 12)}`,
      next: `Give the run another name (\`squad run --name …\`), or delete it: \`git branch -D ${branch}\`.`,
    });
  }
  const baseline = await workspaces.takeBaseline();
  ledger.note(lease, RUN_EVENTS.workspaceAllocated, plainJson({ branch, base, baseline }));
}

/** The end: worktrees go (what is in them is kept), and the branch is pushed where that was asked for. */
export async function publishRun(ports: OperationPorts, board: Board): Promise<PublishFacts> {
  const { definition, workspaces } = ports;
  const { name } = definition;
  const kept = await removeWorktrees(ports, board);
  await workspaces.closeRun(name);
  if (kept.length === 0) await workspaces.removeRunFolder(name);
  const found = await workspaces.runHead(name);
  const branch = `squad/${name}`;
  const facts: PublishFacts = { branch, head: found ?? definition.repository.base, kept };
  const { head: delivered } = board.branch;
  if (board.finished?.outcome === 'done' && found !== delivered) {
    const why = found === undefined ? 'it is gone' : findForeignHead(found, delivered);
    return { ...facts, problem: `${branch} is not as it was checked: ${why ?? ''}` };
  }
  // Half of the work is not what was asked for; its branch is there for whoever wants it.
  if (definition.publish === undefined || board.finished?.outcome !== 'done') return facts;
  return { ...facts, ...(await pushRun(ports, delivered)) };
}

async function removeWorktrees(
  { workspaces, definition }: OperationPorts,
  board: Board,
): Promise<PublishFacts['kept']> {
  const kept: PublishFacts['kept'] = [];
  for (const worktree of await workspaces.listWorktrees(definition.name)) {
    // The engine's own, which goes with the run.
    if (worktree.task.startsWith('_')) continue;
    const attempts = board.tasks.get(worktree.task)?.work.attempts ?? 0;
    const answer = await workspaces.removeWorktree(worktree, `${worktree.task}-${Math.max(1, attempts)}`);
    if (answer.type === 'removed') continue;
    kept.push({ path: worktree.workspace.path, why: `${answer.reason}: ${answer.detail.join(', ')}` });
  }
  // An engine was killed while it made or deleted these: nobody's work is in them, and nobody else asks for them any more.
  for (const half of await workspaces.listHalfMade(definition.name)) {
    if (half.task.startsWith('_')) continue;
    const answer = await workspaces.removeWorktree(half, half.task);
    if (answer.type === 'refused') kept.push({ path: half.path, why: `${answer.reason}: ${answer.detail.join(', ')}` });
  }
  return kept;
}
