import { usageError } from '../../model/errors.ts';
import { backlogOf } from '../../model/sprint/team.ts';
import { noSuch } from '../../model/unknown-name.ts';
import { requestStatus, sprintStatusText, wholeStatus } from '../../view/people/status-text.ts';
import { summarizeRun } from '../../view/run-summary.ts';
import { statusOf } from '../../view/sprint/status.ts';
import { viewRequests } from '../../view/sprint/request-view.ts';
import { plainLine } from '../../text/plain-text.ts';
import { lookIn, type OpenedWorkspace } from '../open-workspace.ts';
import { lookAtTeam, type SeenTeam } from '../team/read-team.ts';
import { lookAtLine } from '../team/line.ts';
import { nextOfTeam } from '../team/next-of-team.ts';
import { readTeamSettings } from '../team/team-settings.ts';
import { askingRuns } from './asking-runs.ts';

/** How the sprint stands, as `squad sprint status` shows it. */
export async function sprintStatusOf(workspace: OpenedWorkspace): Promise<string> {
  return sprintStatusText(await statusNow(workspace, lookAtTeam(workspace)));
}

/** How a request, an item, a sprint or a run stands; without a name all of it. Throws `usage` for a name that nothing has. */
export async function statusAbout(workspace: OpenedWorkspace, about: string | undefined): Promise<string> {
  const seen = lookAtTeam(workspace);
  const requests = viewRequests(seen.team, (run) => seen.runState(run) === 'over');
  if (about === undefined) return wholeStatus(await statusNow(workspace, seen), requests, askingRuns(workspace));
  const named = about.toLowerCase();
  const request = requests.find(({ id }) => id === named);
  if (request !== undefined) return requestStatus(request);
  const item = backlogOf(seen.team).find(({ id }) => id === named);
  if (item !== undefined) return itemStatus(item);
  const sprint = [...seen.team.sprint.keys()].find((id) => id.toLowerCase() === named);
  if (sprint !== undefined) return sprintStatus(workspace, seen, sprint);
  const run = runStatus(workspace, named);
  if (run !== undefined) return run;
  throw usageError(noSuch('request, item, sprint or run', plainLine(about, 60), [...seen.team.request.keys()]), '');
}

async function statusNow(workspace: OpenedWorkspace, seen: SeenTeam) {
  const settings = await readTeamSettings(workspace);
  return statusOf({
    ...{ team: seen.team, timezone: settings.timezone, isOver: (run) => seen.runState(run) === 'over' },
    next: await nextOfTeam(workspace, settings, seen, await lookAtLine(workspace, settings.branch)),
  });
}

function itemStatus(item: ReturnType<typeof backlogOf>[number]): string {
  const { id, state, title, commit, blocked_reason: why, required_inputs: inputs = [] } = item;
  const at = commit === undefined ? '' : `, commit ${plainLine(commit.slice(0, 12), 12)}`;
  return [
    `${id} is ${state}${at}: ${plainLine(title, 200)}`,
    ...(why === undefined ? [] : [`It is blocked: ${plainLine(why, 500)}`]),
    ...inputs.map((one) => `It waits for: ${plainLine(one, 300)}`),
  ].join('\n');
}

async function sprintStatus(workspace: OpenedWorkspace, seen: SeenTeam, id: string): Promise<string> {
  const end = seen.team.end.get(id);
  if (end === undefined) return sprintStatusText(await statusNow(workspace, seen));
  const why = end.reason === undefined ? '' : `: ${plainLine(end.reason, 500)}`;
  return `The sprint ${id} is ${end.outcome}${why}.`;
}

function runStatus(workspace: OpenedWorkspace, name: string): string | undefined {
  const { playbooks } = workspace.composition;
  return lookIn(workspace, (ledger, lockedBy, now) => {
    const row = ledger.runs().findLast((one) => one.name === name);
    const summary = row === undefined ? undefined : summarizeRun(ledger, row, lockedBy, now, playbooks);
    if (row === undefined || summary === undefined) return undefined;
    const headline = summary.headline === null ? '' : `: ${plainLine(summary.headline, 300)}`;
    return `The run ${row.name} is ${summary.state}${headline}.`;
  });
}
