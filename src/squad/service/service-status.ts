import type { Machine } from '../../engine/machine.ts';
import { errorText } from '../../model/errors.ts';
import type { Schedule } from '../../model/schedule.ts';
import { nextSlot } from '../../text/cron.ts';
import { readLockHolder, type LockHolder } from '../../substrate/ledger/index.ts';
import { probeLock } from '../../substrate/ledger/workspace-lock.ts';
import { readSharedLimits, type SharedLimitsView } from '../../view/shared-limits.ts';
import { listUnfinished } from '../../view/unfinished.ts';
import { lookIn, type OpenedWorkspace } from '../open-workspace.ts';
import { readSchedules } from '../preflight/read-schedules.ts';
import { unagreedSchedules } from './agreed-schedules.ts';
import { scheduleRecord, type ScheduleRecord } from './schedule-record.ts';
import { findService } from './service-lock.ts';

export interface ScheduleStatus extends Pick<Schedule, 'name' | 'cron' | 'timezone'> {
  readonly agreed: boolean;
  /** Epoch ms. null: none comes. */
  readonly next: number | null;
  /** Its newest run. */
  readonly started: NonNullable<ScheduleRecord['started']> | null;
  /** The newest slots that started no run, the newest first. */
  readonly left: ScheduleRecord['left'];
}

/** The service of a repository, looked up now. */
export interface ServiceStatus {
  /** null: no service runs. */
  readonly service: Partial<LockHolder> | null;
  /** Who drives runs now. null: no engine. */
  readonly engine: Partial<LockHolder> | null;
  readonly runs: { readonly queued: number; readonly open: number; readonly asking: number };
  readonly schedules: readonly ScheduleStatus[];
  /** Why the schedules of squad.yaml cannot be used. The service keeps those that it read before. */
  readonly problem: string | null;
  /** Absent: no limits of all runs were ever set. */
  readonly sharedLimits?: SharedLimitsView;
}

export async function serviceStatus(workspace: OpenedWorkspace<Machine>): Promise<ServiceStatus> {
  const { directory, composition, repository } = workspace;
  const now = composition.clock.now();
  const found = findService(directory);
  const read = await readSchedules(repository.root).catch((error: unknown) => ({ problem: errorText(error) }));
  const schedules = 'problem' in read ? [] : read.schedules;
  const unagreed = 'problem' in read ? [] : await unagreedSchedules(workspace, read);
  const seen = lookIn(workspace, (ledger, lockedBy) => {
    const needs = listUnfinished(ledger, lockedBy, now).map(({ need }) => need);
    const count = (...some: readonly string[]) => needs.filter((need) => some.includes(need)).length;
    return {
      runs: { queued: count('queued'), open: needs.length - count('queued'), asking: count('asks') },
      limits: readSharedLimits(ledger, lockedBy),
      records: new Map(schedules.map(({ name }) => [name, scheduleRecord(ledger, name)])),
    };
  });
  return {
    service: found === null ? null : (found.holder ?? {}),
    engine: probeLock(directory) === null ? null : (readLockHolder(directory) ?? {}),
    runs: seen?.runs ?? { queued: 0, open: 0, asking: 0 },
    schedules: schedules.map(({ name, cron, timezone }) => {
      const record = seen?.records.get(name);
      const next = nextSlot({ cron, timezone }, Math.max(now, record?.after ?? 0)) ?? null;
      const about = { started: record?.started ?? null, left: record?.left ?? [] };
      return { name, cron, timezone, agreed: !unagreed.includes(name), next, ...about };
    }),
    problem: 'problem' in read ? read.problem : null,
    ...(seen?.limits === undefined ? {} : { sharedLimits: seen.limits }),
  };
}
