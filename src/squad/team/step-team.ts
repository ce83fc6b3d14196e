import { isSquadError } from '../../model/errors.ts';
import type { Team } from '../../model/sprint/team.ts';
import { endedAs } from '../../model/sprint/sprint.ts';
import { decideTeam, type TeamDecision, type TeamView } from '../../rules/sprint/decide-team.ts';
import { openFindings } from '../../rules/sprint/findings.ts';
import { kickoffOf } from '../../rules/sprint/kickoff.ts';
import { dueSlot } from '../../rules/service/decide-service.ts';
import { nextSlot } from '../../text/cron.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { TrustOption } from '../new-run.ts';
import { lookIn, withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { beginsNow, noteSchedules, recordLeft, recordRun, scheduleRecord } from '../service/schedule-record.ts';
import { closeSprint } from './close-sprint.ts';
import { discoverBefore } from './discover.ts';
import { lineObstacle, lookAtLine } from './line.ts';
import { timetableOf } from './next-of-team.ts';
import { openReview, submitReview } from './plan-requests.ts';
import { openSprint, submitSprint } from './open-sprint.ts';
import { lookAtTeam, teamIn, type SeenTeam } from './read-team.ts';
import { readTeamSettings, type TeamSettings } from './team-settings.ts';

/** Where the slots of sprints are settled. No schedule can have this name. */
const SLOTS = 'sprint/slots';
/** A line that is held, or a repository that is busy, is looked at again after this. */
const AGAIN_MS = 30_000;

/** One step that was made. `text`: for people. */
export interface TeamStep {
  readonly did: TeamDecision['do'];
  readonly text: string;
  /** Epoch ms; undefined: until something changes. */
  readonly until?: number | undefined;
}

export interface StepOptions extends TrustOption, Pick<TeamView, 'begins'> {
  /** Absent: they are read. */
  readonly settings?: TeamSettings | undefined;
}

/** Does the one thing that is next for the team. Safe to repeat, and beside others that do the same. */
export async function stepTeam(workspace: OpenedWorkspace, options: StepOptions = {}): Promise<TeamStep> {
  const settings = options.settings ?? (await readTeamSettings(workspace));
  const now = workspace.composition.clock.now();
  const slots = await slotsOf(workspace, settings, now);
  const decide = (): Pick<Step, 'seen' | 'decision'> => {
    const seen = lookAtTeam(workspace);
    const findings = openFindings(seen.team);
    return { seen, decision: decideTeam({ ...seen, ...slots, now, settings, findings, begins: options.begins }) };
  };
  const first = decide();
  // A line that is held for days would otherwise have the sourcer look at each try.
  const held = first.decision.do === 'open-sprint' ? await heldBy(workspace, settings.branch) : undefined;
  if (held !== undefined) return heldStep(workspace, held);
  // A planner gets new findings first.
  const isFresh = await discoverBefore(workspace, settings, first.decision.do);
  return carryOut(workspace, settings, { ...options, ...(isFresh ? decide() : first) });
}

/** Finishes what was begun and needs no engine, such as the end of a sprint whose run is over. */
export async function finishBegun(workspace: OpenedWorkspace, options: TrustOption = {}): Promise<void> {
  while ((await stepTeam(workspace, { ...options, begins: 'nothing' })).did !== 'wait');
}

async function slotsOf(
  workspace: OpenedWorkspace,
  settings: TeamSettings,
  now: number,
): Promise<Pick<TeamView, 'slot' | 'nextSlot'>> {
  const timetable = timetableOf(settings);
  if (timetable === undefined) return {};
  const schedule = { name: SLOTS, ...timetable };
  const record = lookIn(workspace, (ledger) => scheduleRecord(ledger, SLOTS));
  const begins = beginsNow(record, schedule, now);
  if (begins) await withLedger(workspace, 'write', (ledger) => noteSchedules(ledger, [schedule], now));
  const after = begins || record === undefined ? now : record.after;
  return { slot: dueSlot({ ...timetable, after }, now), nextSlot: nextSlot(timetable, Math.max(after, now)) };
}

interface Step extends TrustOption {
  readonly seen: SeenTeam;
  readonly decision: TeamDecision;
}

async function carryOut(
  workspace: OpenedWorkspace,
  settings: TeamSettings,
  { seen, decision, trust }: Step,
): Promise<TeamStep> {
  const did = decision.do;
  switch (decision.do) {
    case 'submit-sprint':
      await submitSprint(workspace, settings, decision.sprint, { trust });
      return { did, text: `the sprint ${decision.sprint} is queued` };
    case 'submit-review':
      await submitReview(workspace, decision.review, { trust });
      return { did, text: `${decision.review} is queued` };
    case 'close-sprint': {
      const closed = await closeSprint(workspace, settings.branch, decision.sprint);
      if ('held' in closed) return heldStep(workspace, `${decision.sprint} is not closed: ${closed.held}`);
      return { did, text: `the sprint ${decision.sprint} ${endedAs(closed.end)}` };
    }
    case 'plan': {
      const { requests, findings } = decision;
      await openReview(workspace, { requests: [...requests], findings: [...findings] });
      return { did, text: `the planner gets ${plainLine([...requests, ...findings].join(', '), 300)}` };
    }
    case 'open-sprint':
      return openScheduled(workspace, settings, seen.team, decision);
    case 'skip-slot': {
      const { slot, why } = decision;
      await settleSlot(workspace, slot, why);
      return { did, text: `the slot is skipped: ${why}` };
    }
    case 'wait':
      return { did, text: decision.why, until: decision.until };
  }
}

async function openScheduled(
  workspace: OpenedWorkspace,
  settings: TeamSettings,
  team: Team,
  { trigger, items, slot }: Extract<TeamDecision, { do: 'open-sprint' }>,
): Promise<TeamStep> {
  try {
    const id = await openSprint(workspace, settings, { kickoff: kickoffOf(team, trigger, items) });
    if (slot !== undefined) await settleSlot(workspace, slot, id);
    return { did: 'open-sprint', text: `the sprint ${id} begins` };
  } catch (error) {
    if (!isSquadError(error) || error.code !== 'workspace-busy') throw error;
    return heldStep(workspace, error.message);
  }
}

async function settleSlot(workspace: OpenedWorkspace, slot: number, about: string): Promise<void> {
  const { composition } = workspace;
  const at = composition.clock.now();
  await withLedger(workspace, 'write', (ledger) => {
    const run = teamIn(ledger).sprint.get(about);
    if (run === undefined)
      return recordLeft(ledger, SLOTS, { slot, at, outcome: 'skipped', why: about }, composition.redactor([]));
    recordRun(ledger, SLOTS, { slot, at, run: run.run, name: about, head: run.base });
  });
}

/** Says why no sprint could begin on the line; undefined: one could. */
async function heldBy(workspace: OpenedWorkspace, branch: string): Promise<string | undefined> {
  return lineObstacle(workspace.composition.git, await lookAtLine(workspace, branch));
}

function heldStep({ composition: { clock } }: OpenedWorkspace, text: string): TeamStep {
  return { did: 'wait', text, until: clock.now() + AGAIN_MS };
}
