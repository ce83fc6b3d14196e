import type { Board } from '../model/plan/board.ts';
import type { PlanNews } from '../model/plan/event.ts';
import type { OperationPorts } from './operation-ports.ts';

type Restored = Extract<PlanNews, { type: 'branch-restored' }>;

/** Puts the run branch back to the commit in the ledger. First keeps the other commit at a ref of the run. */
export async function restoreBranch({ workspaces, definition }: OperationPorts, { branch }: Board): Promise<Restored> {
  const { name } = definition;
  const done: Restored = { type: 'branch-restored', restored: true, head: branch.head, paths: [] };
  const head = await workspaces.runHead(name);
  if (head === branch.head) return done;
  if (head !== (branch.foreign?.head ?? undefined)) return { ...done, restored: false, head: head ?? null };
  if (head === undefined) {
    await workspaces.createRunBranch(name, branch.head);
    return done;
  }
  await workspaces.keepAttempt(name, `foreign-${head.slice(0, 12)}`, head);
  const answer = await workspaces.advance(name, head, branch.head);
  switch (answer.type) {
    case 'advanced':
      return done;
    case 'moved':
      return { ...done, restored: false, head: answer.head ?? null };
    case 'checked-out':
      return { ...done, restored: false, head, paths: [...answer.paths] };
  }
}
