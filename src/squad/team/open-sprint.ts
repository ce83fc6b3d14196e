import { join } from 'node:path';
import { badInput, SquadError } from '../../model/errors.ts';
import { KINDS } from '../../model/sprint/kinds.ts';
import type { SprintOptions } from '../../model/sprint/options.ts';
import { attachmentsOfItem } from '../../model/sprint/references.ts';
import { TEAM_ROLES } from '../../model/sprint/roles.ts';
import { unrouted } from '../../model/sprint/routing.ts';
import { kickoffWords, type Kickoff, type Sprint } from '../../model/sprint/sprint.ts';
import { activeSprint, backlogOf, isSelectable, type Team } from '../../model/sprint/team.ts';
import { estimateText } from '../../rules/sprint/sprint-estimate.ts';
import { sprintFolder, sprintId } from '../../rules/sprint/sprint-id.ts';
import { openRepository } from '../../substrate/git/repository.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { attachmentsFolder } from '../../substrate/system/files/run-files.ts';
import { briefly } from '../../substrate/system/process/brief-lock.ts';
import { counted } from '../../text/counted.ts';
import { plainJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { TrustOption } from '../new-run.ts';
import { runIdOf, withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { submit } from '../submit.ts';
import { bringToLine } from './line.ts';
import { lookAtTeam, teamIn } from './read-team.ts';
import type { TeamSettings } from './team-settings.ts';

const MINUTE_MS = 60_000;

/** The start of a sprint: `until` in epoch ms, absent: as the settings say. */
export interface SprintStart {
  readonly kickoff: Kickoff;
  readonly until?: number | undefined;
}

/** Records a sprint at the head of the line, and returns its id. Its run is submitted next. Throws `workspace-busy` while one is active, or the line cannot be taken, and `bad-input` if the policy leaves no role for a step. */
export async function openSprint(
  workspace: OpenedWorkspace,
  settings: TeamSettings,
  { kickoff, until }: SprintStart,
): Promise<string> {
  requireRoles(settings, kickoff);
  const { composition, directory, repository } = workspace;
  const { head } = await openRepository(composition.git, repository.root);
  const line = await bringToLine(composition.git, repository.root, {
    ...{ branch: settings.branch, commit: head },
    message: `Merge the branch that is checked out into ${settings.branch}`,
  });
  if ('held' in line) throw held(line.held);
  return briefly(join(directory, 'team.lock'), async () =>
    withLedger(workspace, 'write', (ledger) => {
      const team = teamIn(ledger);
      const active = activeSprint(team);
      if (active !== undefined) throw isActive(active);
      const at = composition.clock.now();
      const id = sprintId(at, settings.timezone, [...team.sprint.keys()]);
      const minutes = kickoff.trigger === 'person' ? undefined : settings.minutes;
      const sprint: Sprint = {
        ...{ kickoff, run: runIdOf(directory, sprintKey(id)), base: line.head, at },
        until: until ?? (minutes === undefined ? null : at + minutes * MINUTE_MS),
      };
      ledger.writeRecord({ kind: KINDS.sprint, id, value: plainJson(sprint), after: 0 });
      failpoint('sprint.opened');
      return id;
    }),
  );
}

/** Before anything is on record: the run itself would be refused with a sprint that is in the way. */
function requireRoles({ policy, folder = '' }: TeamSettings, kickoff: Kickoff): void {
  const [first, ...more] = unrouted({ policy, text: kickoffWords({ kickoff }), staffed: TEAM_ROLES });
  if (first === undefined) return;
  throw badInput(
    `no sprint can start: ${first}${more.length === 0 ? '' : `; and for ${counted(more.length, 'other step')}`}`,
    `Take these words out of ${join(folder, 'agent_utilization/policy.yaml')}, or say what the sprint is for in other words.`,
  );
}

/** Submits the run of a sprint that is on record. Safe to repeat. */
export async function submitSprint(
  workspace: OpenedWorkspace,
  settings: TeamSettings,
  id: string,
  trust: TrustOption = {},
): Promise<void> {
  const { host, composition, directory } = workspace;
  const { team } = lookAtTeam(workspace);
  const sprint = team.sprint.get(id);
  // A person may have stopped it meanwhile.
  if (sprint === undefined || team.end.has(id)) return;
  const { kickoff, until, base } = sprint;
  const own = {
    ...{ sprint: id, kickoff, until, files: attachmentsFolder(directory) },
    ...{ backlog: workable(team), estimate: estimateText(team) },
  };
  const options = sprintOptionsOf(settings, own);
  await submit({ host, composition }, { sprint: options }, { key: sprintKey(id), name: runNameOf(id), base, ...trust });
  failpoint('sprint.submitted');
}

type Own = Pick<SprintOptions, 'sprint' | 'kickoff' | 'until' | 'files' | 'backlog' | 'estimate'>;

/** Puts together what the run of a sprint is frozen with. */
export function sprintOptionsOf(settings: TeamSettings, own: Own): SprintOptions {
  const { timezone, approve, maxTodos, advice, policy, commitPolicy } = settings;
  return { ...own, timezone, maxTodos, advice, policy, commitPolicy, ...(approve === undefined ? {} : { approve }) };
}

/** A sprint's planner may work on them. */
export function workable(team: Team): SprintOptions['backlog'] {
  return backlogOf(team)
    .filter((item) => isSelectable(item) || item.state === 'blocked')
    .map((item) => {
      const attachments = attachmentsOfItem(team, item.id);
      return attachments.length === 0 ? item : { ...item, attachments };
    });
}

function sprintKey(id: string): string {
  return `sprint:${id}`;
}

/** Names of runs are slugs. */
function runNameOf(id: string): string {
  return `sprint-${sprintFolder(id)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')}`.slice(0, 32);
}

/** `kickoff`: of one that no process continues by itself. */
export function isActive(sprint: string, kickoff?: Kickoff): SquadError {
  const words = kickoff?.trigger === 'person' && !kickoff.text.includes('\n') ? kickoff.text : '';
  const again =
    words === ''
      ? ''
      : ` \`squad sprint start ${shellWord(plainLine(words, 200))}\` continues it here, with its own words.`;
  return new SquadError({
    code: 'workspace-busy',
    message: `the sprint ${sprint} is active: a team has one at a time`,
    next: `See \`squad sprint status\`.${again} \`squad serve\` continues one without an engine, and \`squad sprint stop\` ends it early.`,
  });
}

function held(why: string): SquadError {
  return new SquadError({
    code: 'workspace-busy',
    message: `no sprint can start: ${why}`,
    next: 'Then start it again; `squad sprint status` says whether it can.',
  });
}
