import type { Composition, Host } from './compose.ts';
import { SquadError, usageError } from '../model/errors.ts';
import { placedAt, publishFactsSchema, RUN_EVENTS, type RunDefinition } from '../model/run.ts';
import { beginAt } from '../substrate/git/begin-at.ts';
import { findCommits } from '../substrate/git/find-commits.ts';
import { openRepository } from '../substrate/git/repository.ts';
import { failpoint } from '../substrate/system/failpoint.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import type { RepositoryReport } from '../substrate/ports/workspaces.ts';
import { endOfRun } from '../view/end-row.ts';
import type { RunHistory } from '../view/read-run.ts';
import { branchTaken } from './branch-taken.ts';
import { workspacesOf } from './workspaces.ts';

interface Place {
  readonly ledger: Ledger;
  readonly repository: RepositoryReport;
  readonly directory: string;
}

/**
 * Gives a submitted run the commit that it begins with, and its branch. Safe to repeat until its workspace is allocated. Throws for a commit
 * that is not there any more.
 */
export async function beginSubmitted(
  ports: Composition & { readonly host: Host },
  place: Place,
  { row, definition }: Pick<RunHistory, 'row' | 'definition'>,
): Promise<void> {
  const { repository, directory } = place;
  const stored = placedAt(definition, repository.root);
  if (stored.repositories !== undefined) await (await import('./several/ports.ts')).join(ports, repository, stored);
  const base = await baseOf(ports, place, row.id, stored);
  const workspaces = workspacesOf(ports, repository, directory, stored);
  try {
    const claimed = await workspaces.createRunBranch(row.name, base, [], row.id);
    if (claimed.type === 'taken') throw branchTaken(row.name);
  } finally {
    await workspaces.close();
  }
  failpoint('submitted.branch');
}

/** Looked up once in the life of a run: after a crash, a branch may be somewhere else. */
async function baseOf(
  { git, ...ports }: Composition,
  { ledger, repository }: Place,
  runId: string,
  { submitted: { base, after } = { at: 0, by: '' }, repository: { base: frozen } }: RunDefinition,
): Promise<string> {
  const isNamed = base !== undefined || after !== undefined;
  if (isNamed && ledger.events({ stream: runId, types: [RUN_EVENTS.based], limit: 1 }).length === 0) {
    const from = after === undefined ? base : await resultOf(git, repository, ledger, after);
    const opened = await openRepository(git, repository.root);
    const { head } = await beginAt(git, opened, {
      from: from ?? frozen,
      remotes: await ports.forge(repository).remotes(),
    });
    ledger.append(runId, RUN_EVENTS.based, { base: head });
    failpoint('submitted.based');
    return head;
  }
  if ((await findCommits(git, repository, [frozen])).has(frozen)) return frozen;
  throw usageError(
    `the commit ${frozen.slice(0, 12)} that it begins with is gone`,
    'Start a new run from a commit that is there.',
  );
}

/** The commit that another run has delivered. */
async function resultOf(
  git: Composition['git'],
  repository: RepositoryReport,
  ledger: Ledger,
  runId: string,
): Promise<string> {
  const name = ledger.run(runId)?.name ?? runId;
  const published = ledger.events({ stream: runId, types: [RUN_EVENTS.published] }).at(-1);
  const ended = endOfRun(ledger, { id: runId });
  if (published !== undefined && ended !== undefined) {
    const { head } = publishFactsSchema.parse(published.data);
    if ((await findCommits(git, repository, [head])).has(head)) return head;
    throw usageError(
      `the result of ${name} that it begins with is gone (commit ${head.slice(0, 12)})`,
      'Start a new run from a commit that is there.',
    );
  }
  throw new SquadError({
    code: 'usage',
    message: `it begins with the result of ${name}, which is not over`,
    next: `See \`squad status ${name}\`.`,
  });
}
