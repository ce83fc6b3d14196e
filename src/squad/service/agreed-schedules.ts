import type { Host, Machine } from '../../engine/machine.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { hasConsent } from '../preflight/consent.ts';
import type { RepositorySchedules } from '../preflight/read-schedules.ts';
import { scheduleItems } from '../preflight/schedule-items.ts';

/** Names of the schedules that no person has agreed to as they are now. */
export async function unagreedSchedules(
  { host, repository }: Pick<OpenedWorkspace<Machine>, 'repository'> & { readonly host: Host },
  { schedules, source, notify }: RepositorySchedules,
): Promise<string[]> {
  const found = schedules.map(async (schedule, index) => {
    const items = scheduleItems(schedule, index, source, notify);
    return (await hasConsent(items, { host }, repository)) ? [] : [schedule.name];
  });
  return (await Promise.all(found)).flat();
}
