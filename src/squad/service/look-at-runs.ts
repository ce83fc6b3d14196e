import type { Machine } from '../../engine/machine.ts';
import type { Schedule } from '../../model/schedule.ts';
import { WORKSPACE_STREAM } from '../../model/ledger-event.ts';
import { FOLLOW_KIND, isOpenFollow } from '../../model/forge/follow-record.ts';
import { ISSUE_KIND } from '../../model/forge/issue-record.ts';
import { PEOPLE_KINDS } from '../../model/people/kinds.ts';
import { KINDS } from '../../model/sprint/kinds.ts';
import { newRunsCappedUntil, roomFor, type SharedRoom } from '../../model/shared-spending.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { endOfRun } from '../../view/end-row.ts';
import { listUnfinished, runsToSweep, type StillRuns, type Unfinished } from '../../view/unfinished.ts';
import { lookIn, type OpenedWorkspace } from '../open-workspace.ts';
import { asObject } from '../../text/json.ts';
import { scheduleRecord, type ScheduleRecord } from './schedule-record.ts';

/** The runs of a repository, and what is on record of its schedules, as the service sees them. */
export interface SeenRuns {
  /** Another process drives runs. */
  readonly driven: boolean;
  /** A run could move if an engine had it, and no cap of the day holds it back. */
  readonly canMove: boolean;
  /** A run waits for a time. */
  readonly waits: boolean;
  /** A cap of the day is reached: until then no run begins. */
  readonly cappedUntil: number | undefined;
  /** Changes with each event. */
  readonly mark: number;
  /** By schedule. */
  readonly records: ReadonlyMap<string, ScheduleRecord>;
  /** Schedules with a run that is open. */
  readonly open: ReadonlySet<string>;
  /** Changes with what a team decides by; undefined: nothing is on record of one. */
  readonly teamMark: string | undefined;
}

const NONE: SeenRuns = {
  driven: false,
  canMove: false,
  waits: false,
  cappedUntil: undefined,
  mark: 0,
  records: new Map(),
  open: new Set(),
  teamMark: undefined,
};

const TEAM = [KINDS.request, KINDS.sprint, KINDS.item, PEOPLE_KINDS.message];

/** Known from look to look. `seq`: of the workspace's own events; `counts`: the newest one that a team decides by. */
export interface FollowedEvents {
  /** A service looks each second, and a thousand runs may wait. */
  readonly still: StillRuns;
  seq: number | undefined;
  counts: number;
  /** Records of a team were seen: they are never removed. */
  isTeam: boolean;
}

/** Read only. */
export function lookAtRuns(
  workspace: OpenedWorkspace<Machine>,
  schedules: readonly Schedule[],
  followed: FollowedEvents,
): SeenRuns {
  const seen = lookIn(workspace, (ledger, lockedBy, now): SeenRuns => {
    const unfinished = listUnfinished(ledger, lockedBy, now, followed);
    const records = new Map(
      schedules.flatMap(({ name }) => {
        const record = scheduleRecord(ledger, name);
        return record === undefined ? [] : [[name, record] as const];
      }),
    );
    const shared = ledger.sharedUse(lockedBy?.since ?? Infinity);
    const holds = (run: string): SharedRoom['reached'] =>
      shared === undefined ? undefined : roomFor(shared, run).reached;
    return {
      driven: lockedBy !== null,
      canMove: runsToSweep(ledger, unfinished).some(({ runId }) => holds(runId) === undefined),
      cappedUntil: newRunsCappedUntil(shared),
      waits: unfinished.some(({ need }) => need === 'waits'),
      mark: ledger.lastSeq(),
      records,
      teamMark: teamMark(ledger, unfinished, followed),
      open: new Set([...records].filter(([, { started }]) => isOpen(ledger, started?.run)).map(([name]) => name)),
    };
  });
  return seen ?? NONE;
}

/** The workspace's own events, which runs are over, and which ask. */
function teamMark(
  ledger: Ledger,
  unfinished: readonly Pick<Unfinished, 'runId' | 'need'>[],
  followed: FollowedEvents,
): string | undefined {
  followed.isTeam ||= TEAM.some((kind) => ledger.records(kind).length > 0);
  if (!followed.isTeam && !ledger.records(FOLLOW_KIND).some(({ value }) => isOpenFollow(value))) return undefined;
  follow(ledger, followed);
  return [followed.counts, ...unfinished.map(({ runId, need }) => (need === 'asks' ? `${runId}?` : runId))].join(' ');
}

/** They say something to people, and change nothing for a team. */
const SAID: ReadonlySet<unknown> = new Set([
  ...[PEOPLE_KINDS.cursor, PEOPLE_KINDS.reply, PEOPLE_KINDS.delivery],
  ...[ISSUE_KIND, FOLLOW_KIND],
]);

function follow(ledger: Ledger, followed: FollowedEvents): void {
  const last = ledger.lastSeq(WORKSPACE_STREAM);
  const { seq } = followed;
  const isNews = (): boolean =>
    ledger
      .events({ stream: WORKSPACE_STREAM, after: seq ?? 0 })
      .some(({ type, data }) => type !== 'record-written' || !SAID.has(asObject(data)['kind']));
  if (seq === undefined || last < seq || (last > seq && isNews())) followed.counts = last;
  followed.seq = last;
}

function isOpen(ledger: Ledger, run: string | undefined): boolean {
  if (run === undefined) return false;
  const row = ledger.run(run);
  return row !== undefined && endOfRun(ledger, row) === undefined;
}
