import { readFile } from 'node:fs/promises';
import { KINDS } from '../../model/sprint/kinds.ts';
import { sprintProgressSchema, type SprintProgress } from '../../model/sprint/sprint.ts';
import type { Team } from '../../model/sprint/team.ts';
import { WORKSPACE_STREAM } from '../../model/ledger-event.ts';
import { sprintFolders } from '../../rules/sprint/sprint-id.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { runBranch } from '../../substrate/git/git-context.ts';
import { asObject } from '../../text/json.ts';
import { allReferences, attachmentFile } from '../../view/report/team/sprint-files.ts';
import type { SprintFacts, TeamFacts } from '../../view/report/team/team-facts.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { attachmentPath } from './attachments.ts';
import { gatherBranch } from './gather-branch.ts';
import { gatherRun } from './gather-run.ts';
import { runStateIn } from './read-team.ts';

interface Asked {
  readonly timezone: string;
  /** The sprints that are looked up. */
  readonly sprints: readonly string[];
  /** Bytes of attachments that are in the folder are not read again. */
  readonly isThere: (path: string) => boolean;
}

/** Looks up what is written of a team and is not in its records. */
export async function gatherFacts(
  workspace: Pick<OpenedWorkspace, 'composition' | 'repository' | 'directory'>,
  ledger: Ledger,
  team: Team,
  { timezone, sprints, isThere }: Asked,
): Promise<TeamFacts> {
  const planning = [...team.review.values()].at(-1)?.run;
  const facts = new Map<string, SprintFacts>();
  for (const id of sprints) {
    const found = await gatherSprint(workspace, ledger, team, { id, isThere });
    if (found !== undefined) facts.set(id, found);
  }
  return {
    timezone,
    isOver: (run) => runStateIn(ledger, run) === 'over',
    sprints: facts,
    planning: planning === undefined ? undefined : gatherRun(ledger, planning, []),
  };
}

async function gatherSprint(
  { composition, repository, directory }: Pick<OpenedWorkspace, 'composition' | 'repository' | 'directory'>,
  ledger: Ledger,
  team: Team,
  { id, isThere }: { readonly id: string } & Pick<Asked, 'isThere'>,
): Promise<SprintFacts | undefined> {
  const sprint = team.sprint.get(id);
  if (sprint === undefined) return undefined;
  const folder = sprintFolders(team.sprint.keys()).get(id) ?? '';
  const attachments = new Map<string, Uint8Array>();
  for (const one of allReferences(team, id)) {
    if (isThere(attachmentFile(folder, one))) continue;
    // Bytes that are gone are named in kickoff.md, with their hash.
    const bytes = await readFile(attachmentPath(directory, one)).catch(() => undefined);
    if (bytes !== undefined) attachments.set(one.id, bytes);
  }
  const branch = runBranch(ledger.run(sprint.run)?.name ?? id);
  const head = team.end.get(id)?.head ?? undefined;
  return {
    ...gatherRun(ledger, sprint.run, team.progress.get(id)?.todos ?? []),
    ...(await gatherBranch(composition.git, repository, { branch, head, base: sprint.base })),
    attachments,
    steps: stepsOf(ledger, id),
  };
}

/** Each version of its progress. Events before the sprint was opened are not read. */
function stepsOf(ledger: Ledger, id: string): SprintProgress[] {
  const opened = ledger.record(KINDS.sprint, id);
  const after = opened === undefined ? 0 : opened.seq;
  return ledger.events({ stream: WORKSPACE_STREAM, after, types: ['record-written'] }).flatMap(({ data }) => {
    const { kind, id: of, value } = asObject(data);
    if (kind !== KINDS.progress || of !== id) return [];
    return sprintProgressSchema.safeParse(value).data ?? [];
  });
}
