import type { Machine } from '../../engine/machine.ts';
import type { SprintSettings } from '../../model/sprint/settings.ts';
import { decideTeam, type TeamDecision } from '../../rules/sprint/decide-team.ts';
import { openFindings } from '../../rules/sprint/findings.ts';
import { nextSlot, type Timetable } from '../../text/cron.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { findService } from '../service/service-lock.ts';
import { lineObstacle, type LineLook } from './line.ts';
import type { SeenTeam } from './read-team.ts';

/** When sprints start by the clock; undefined: never. */
export function timetableOf({ start, slots: cron, timezone }: SprintSettings): Timetable | undefined {
  return cron === undefined || start === 'person' ? undefined : { cron, timezone };
}

/** Says what the next step would be, and whether the line could be taken. Changes nothing. */
export async function nextOfTeam(
  { composition, directory }: Pick<OpenedWorkspace<Machine>, 'composition' | 'directory'>,
  settings: SprintSettings,
  seen: SeenTeam,
  line: LineLook,
): Promise<{ readonly text: string; readonly until?: number | undefined }> {
  const now = composition.clock.now();
  const timetable = timetableOf(settings);
  const slots = timetable === undefined ? {} : { nextSlot: nextSlot(timetable, now) };
  const held = await lineObstacle(composition.git, line);
  const findings = openFindings(seen.team);
  const decision = decideTeam({ ...seen, ...slots, now, settings, findings, held });
  if (decision.do === 'wait') return { text: decision.why, until: decision.until };
  const who = findService(directory) === null ? '`squad serve` or `squad sprint start` does it' : 'the service does it';
  return { text: `${WORDS[decision.do]}: ${who}` };
}

const WORDS: Readonly<Record<Exclude<TeamDecision['do'], 'wait'>, string>> = {
  'submit-sprint': 'the run of the sprint is queued',
  'submit-review': 'a run of the planner is queued',
  'close-sprint': 'the sprint is closed',
  plan: 'the planner gets what waits',
  'open-sprint': 'a sprint begins',
  'skip-slot': 'the slot is skipped',
};
