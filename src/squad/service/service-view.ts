import type { Machine } from '../../engine/machine.ts';
import type { Schedule } from '../../model/schedule.ts';
import { dueSlot, type ServiceView } from '../../rules/service/decide-service.ts';
import { openRepository } from '../../substrate/git/repository.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import type { SeenRuns } from './look-at-runs.ts';

/** How often a run that waits for a time is looked at. */
const WAITING_MS = 60_000;

interface Seen {
  readonly now: number;
  readonly schedules: readonly Schedule[];
  readonly seen: SeenRuns;
  /** The service's own engine. */
  readonly engine: { readonly runs: () => boolean; readonly notBefore: () => number | undefined };
  /** Until when the slots of a schedule wait. */
  readonly slotNotBefore: (schedule: string) => number | undefined;
  readonly teamIsDue: boolean;
}

/** Gathers what the service decides on. Looks for a reason to skip a slot only where one is due. */
export async function serviceView(
  workspace: OpenedWorkspace<Machine>,
  { now, schedules, seen, engine, slotNotBefore, teamIsDue }: Seen,
): Promise<ServiceView> {
  const { cappedUntil } = seen;
  const isCapped = cappedUntil !== undefined && cappedUntil > now;
  const views = schedules.map(async (schedule) => {
    const { name, cron, timezone } = schedule;
    const after = seen.records.get(name)?.after ?? now;
    const notBefore = slotNotBefore(name);
    const isDue = !isCapped && notBefore === undefined && dueSlot({ cron, timezone, after }, now) !== undefined;
    const skip = isDue ? await skipReason(workspace, schedule, seen) : undefined;
    return { name, cron, timezone, after, notBefore, skip };
  });
  return {
    now,
    schedules: await Promise.all(views),
    engine: engine.runs() ? 'service' : seen.driven ? 'other' : 'none',
    canMove: seen.canMove,
    wakesAt: seen.waits ? now + WAITING_MS : undefined,
    engineNotBefore: engine.notBefore(),
    cappedUntil,
    teamIsDue,
  };
}

async function skipReason(
  { composition, repository }: OpenedWorkspace<Machine>,
  { name, skipIf }: Schedule,
  { open, records }: SeenRuns,
): Promise<string | undefined> {
  if (skipIf === 'active') return open.has(name) ? 'a run of it is open' : undefined;
  const last = records.get(name)?.started;
  if (skipIf === undefined || last === undefined) return undefined;
  const { head } = await openRepository(composition.git, repository.root);
  return head === last.head ? `HEAD is still ${head.slice(0, 12)}, as at its last run` : undefined;
}
