import { defined } from '../../text/defined.ts';
import { plainJson } from '../../text/json.ts';
import type { Board } from '../../model/plan/board.ts';
import { SquadError } from '../../model/errors.ts';
import { pullRequestText } from '../../model/pull-request-text.ts';
import { branchOf, forkedSchema, RUN_EVENTS, type Forked, type PublishFacts } from '../../model/run.ts';
import { lastAttempt } from './folder-removal.ts';
import type { RemovalAnswer, Workspaces } from '../../substrate/ports/workspaces.ts';
import type { OperationPorts } from './operation-ports.ts';

/** Creates the run branch at the base commit, once. */
export async function allocateWorkspace(ports: OperationPorts): Promise<void> {
  const { ledger, lease, definition, workspaces } = ports;
  if (ledger.events({ stream: lease.runId }).some(({ type }) => type === RUN_EVENTS.workspaceAllocated)) return;
  const { base } = definition.repository;
  const branch = branchOf(definition);
  const [forked] = ledger.events({ stream: lease.runId, types: [RUN_EVENTS.forked], limit: 1 });
  const work = forked === undefined ? { head: base, kept: [], pins: [] } : forkedSchema.parse(forked.data);
  await createBranch(workspaces, { run: definition.name, runId: lease.runId }, work);
  ledger.note(lease, RUN_EVENTS.workspaceAllocated, plainJson(defined({ branch, base })));
}

/** The run branch, and the refs of the commits that the run begins with. Safe to repeat before the run's first turn. */
export async function createBranch(
  workspaces: Pick<Workspaces, 'createRunBranch' | 'keepAttempt'>,
  { run, runId }: { readonly run: string; readonly runId: string },
  { head, kept, pins }: Omit<Forked, 'parent'>,
): Promise<void> {
  const answer = await workspaces.createRunBranch(run, head, pins, runId);
  if (answer.type === 'taken') {
    const branch = `squad/${run}`;
    throw new SquadError({
      code: 'bad-input',
      message: `the branch ${branch} already exists, at ${answer.head.slice(0, 12)}`,
      next: `Give the branch another name: \`git branch -m ${branch} before-${run}\`. Then go on: \`squad resume ${run}\`.`,
    });
  }
  for (const { attempt, commit } of kept) await workspaces.keepAttempt(run, attempt, commit);
}

/** Removes the folders, and keeps the work in them at refs. The run branch has what was delivered, or there is a problem. */
export async function publishRun(ports: OperationPorts, board: Board): Promise<PublishFacts> {
  const { definition, workspaces } = ports;
  const { name } = definition;
  const kept = await removeFolders(ports, board);
  const found = await workspaces.runHead(name);
  const facts: PublishFacts = {
    ...defined({ branch: branchOf(definition) }),
    head: found ?? definition.repository.base,
    kept,
  };
  const { head: delivered } = board.branch;
  // A branch without a commit is of no use to a person who did not want the work.
  const isEmpty = found === delivered && delivered === definition.repository.base;
  if (board.finished?.outcome === 'cancelled' && isEmpty && (await workspaces.dropBranch(name, delivered))) {
    const { branch: _, ...rest } = facts;
    return rest;
  }
  const isDone = board.finished?.outcome === 'done';
  if (isDone && ports.several !== undefined)
    return { ...facts, ...(await ports.several.deliver({ head: delivered, found })) };
  if (isDone && found !== delivered) {
    const why =
      found === undefined
        ? 'it was deleted'
        : `it is at ${found.slice(0, 12)}, and the run delivered ${delivered.slice(0, 12)} last. Compare the two, and push the branch yourself if it is right`;
    return { ...facts, problem: `squad/${name} has changed since it was checked: ${why}` };
  }
  return facts;
}

/** Nothing else is at work by then. */
const AT_ONCE = 4;

async function removeFolders(ports: OperationPorts, board: Board): Promise<PublishFacts['kept']> {
  const { workspaces, definition } = ports;
  const kept: PublishFacts['kept'] = [];
  const all = await workspaces.listFolders(definition.name);
  const left = all.filter(({ task }) => !task.startsWith('_'));
  for (let from = 0; from < left.length; from += AT_ONCE) {
    const some = left.slice(from, from + AT_ONCE).map(async (folder) => {
      const phase = board.tasks.get(folder.task)?.work.phase;
      const failed = phase?.at !== 'ended' || phase.as !== 'done';
      const attempt = lastAttempt(board, folder.task);
      const why = await whyKept(ports, async () => workspaces.removeFolder(folder, attempt, failed));
      return why === undefined ? [] : [{ path: folder.path, why }];
    });
    kept.push(...(await Promise.all(some)).flat());
  }
  // It removes the engine's own folder.
  const why = await whyKept(ports, async () => {
    await workspaces.closeRun(definition.name);
    return { type: 'removed', rescued: false };
  });
  const own = all.find(({ task }) => task.startsWith('_'))?.path ?? definition.name;
  return why === undefined ? kept : [...kept, { path: own, why }];
}

/** Why a folder is still there; undefined: it is removed. */
async function whyKept({ fault }: OperationPorts, remove: () => Promise<RemovalAnswer>): Promise<string | undefined> {
  try {
    const answer = await remove();
    return answer.type === 'removed' ? undefined : `${answer.reason}: ${answer.detail.join(', ')}`;
  } catch (error) {
    if (fault === undefined) throw error;
    return fault(error);
  }
}

/**
 * Pushes the run branch and opens its pull request, if `publish` asks for it. Returns a problem for a person if it cannot. `report`: for the end of its
 * text.
 */
export async function pushRun(
  ports: Pick<OperationPorts, 'forge' | 'definition'>,
  head: string,
  report: () => string = () => '',
): Promise<Pick<PublishFacts, 'remote' | 'pr' | 'problem'>> {
  const { forge, definition } = ports;
  const { publish, repository, name } = definition;
  if (publish === undefined) return {};
  const { remote } = publish;
  const branch = `squad/${name}`;
  const pushed = await forge.push({ remote, branch, commit: head });
  if (pushed.type === 'refused') return { problem: `${branch} was not pushed to ${remote}: ${pushed.why}` };
  if (!publish.pr) return { remote };
  const base = publish.base ?? repository.branch;
  if (base === undefined) return { remote, problem: DETACHED };
  const opened = await forge.openPullRequest({
    ...{ remote, branch, base },
    ...pullRequestText(definition, report()),
    ...defined({ draft: publish.draft, reviewers: publish.reviewers, labels: publish.labels }),
  });
  if (opened.type === 'found') return { remote, pr: opened.pullRequest.url };
  return {
    remote,
    problem: `no pull request was opened: ${opened.type === 'refused' ? opened.why : 'the forge shows none'}`,
  };
}

/** HEAD had no branch to merge into. */
export const DETACHED = 'HEAD was detached: set publish.base in squad.yaml';
