import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from '../../engine/machine.ts';
import { errorText, isSquadError, wrongEnvironment } from '../../model/errors.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import { decideService, type ServiceDecision } from '../../rules/service/decide-service.ts';
import { ledgerPath } from '../../substrate/ledger/index.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { localTime } from '../../text/time.ts';
import { withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { limitsNow } from './limits-now.ts';
import { lookAtRuns, type FollowedEvents } from './look-at-runs.ts';
import { beginsNow, noteSchedules, recordLeft } from './schedule-record.ts';
import { schedulesNow } from './schedules-now.ts';
import { createServiceEngine, type EngineChild } from './service-engine.ts';
import { serviceFolder } from './service-lock.ts';
import { createServiceChannels } from './service-channels.ts';
import { createServiceSlots } from './service-slots.ts';
import { createServiceTeam } from './service-team.ts';
import { sectionsNow } from './sections-now.ts';
import { serviceView } from './service-view.ts';
import { stampOf } from './watched-files.ts';

/** How often it looks whether a file has changed, a time has come, or it has to end. */
const TICK_MS = 1_000;
/** How often it looks whether another engine is still there. */
const DRIVEN_MS = 5_000;
/** After a look that failed. */
const FAILED_MS = 30_000;
/** It cannot get better while this version runs. */
const FATAL = ['schema-newer', 'database-corrupt'];

export interface ServicePorts {
  readonly workspace: OpenedWorkspace<Machine>;
  readonly redactor: Redactor;
  readonly say: (text: string) => void;
  readonly startEngine: () => EngineChild;
  /** The files that name the limits of all runs. */
  readonly settingsFiles: readonly string[];
  /** Has those limits recorded by a process. Resolves with its problem. */
  readonly recordLimits: () => Promise<string | undefined>;
  /** Has done what is next for the team by a process. Resolves with its words. */
  readonly stepTeam: () => Promise<string | undefined>;
  /** Has one slot submitted by a process. Resolves with its last words. */
  readonly submitSlot: (schedule: string, slot: number) => Promise<string>;
  /** Hosts the channels of squad.yaml until it is stopped. Called once there are some. `write`: into the ledger. */
  readonly hostChannels: (write: (work: (ledger: Ledger) => void) => Promise<void>) => Promise<void>;
  readonly stopped: AbortSignal;
}

/** Serves a repository until it is stopped: submits slots, and starts an engine while a run can move. It starts no turn itself. */
export async function runService(ports: ServicePorts): Promise<void> {
  const { workspace, say, stopped, settingsFiles: settings } = ports;
  const { clock } = workspace.composition;
  const wake = { isDue: false };
  const parts = createParts(ports, () => void (wake.isDue = true));
  let lastProblem = '';
  while (!stopped.aborted) {
    requirePlace(workspace);
    // Before the look: what changes meanwhile is seen by the next one.
    const before = stampOf([...settings, ...ledgerFiles(workspace)]);
    let until: number;
    try {
      const { decision, again } = await look(ports, parts);
      lastProblem = '';
      if (decision.do !== 'wait') {
        await carryOut(ports, parts, decision);
        continue;
      }
      until = Math.min(decision.until ?? Infinity, again);
    } catch (error) {
      if (isSquadError(error) && FATAL.includes(error.code)) throw error;
      if (errorText(error) !== lastProblem) say(errorText(error));
      lastProblem = errorText(error);
      until = clock.now() + FAILED_MS;
    }
    // The service's own engine writes all the time, and its end is what counts.
    const files = parts.engine.runs() || lastProblem !== '' ? settings : [...settings, ...ledgerFiles(workspace)];
    const stamp = files === settings ? stampOf(files) : before;
    const isChanged = (): boolean => wake.isDue || stampOf(files) !== stamp || goneFrom(workspace) !== undefined;
    await waitUntil(until, { clock, stopped, isChanged });
    wake.isDue = false;
  }
  await parts.channels.ended();
}

/** Also until something changes, it has to stop, or the clock is set back. */
async function waitUntil(
  until: number,
  {
    clock,
    stopped,
    isChanged,
  }: { readonly clock: Machine['clock']; readonly stopped: AbortSignal; readonly isChanged: () => boolean },
): Promise<void> {
  for (let last = clock.now(); !stopped.aborted && !isChanged();) {
    const now = clock.now();
    if (now >= until || now < last - TICK_MS) return;
    last = now;
    await clock.sleep(TICK_MS, stopped);
  }
}

type Parts = ReturnType<typeof createParts>;

function createParts(
  {
    workspace,
    redactor,
    say,
    startEngine: start,
    submitSlot: submit,
    stepTeam,
    settingsFiles,
    recordLimits,
    hostChannels,
  }: ServicePorts,
  changed: () => void,
) {
  const { clock } = workspace.composition;
  const place = { directory: workspace.directory, composition: { clock, redactor: () => redactor } };
  const write = async (work: (ledger: Ledger) => void): Promise<void> => withLedger(place, 'write', work);
  return {
    write,
    schedules: schedulesNow(workspace.repository.root, say),
    limits: limitsNow(settingsFiles, recordLimits, say),
    engine: createServiceEngine(clock, { start, say, changed }),
    slots: createServiceSlots({ clock, redactor, submit, write, say, changed }),
    team: createServiceTeam({ clock, step: stepTeam, say, changed }),
    sections: sectionsNow(workspace.repository.root),
    channels: createServiceChannels(async () => hostChannels(write), say),
    seen: {
      teamMark: undefined as string | undefined,
      events: { still: new Map(), seq: undefined, counts: 0, isTeam: false } as FollowedEvents,
    },
  };
}

/** `again`: when to look again in any case. */
async function look(
  { workspace }: ServicePorts,
  { schedules: readNow, limits, engine, slots, team, sections, channels, seen: last, write }: Parts,
): Promise<{ readonly decision: ServiceDecision; readonly again: number }> {
  await limits();
  const has = await sections();
  channels.look(has);
  const now = workspace.composition.clock.now();
  const schedules = await readNow();
  let seen = lookAtRuns(workspace, schedules, last.events);
  if (schedules.some((schedule) => beginsNow(seen.records.get(schedule.name), schedule, now))) {
    await write((ledger) => noteSchedules(ledger, schedules, now));
    seen = lookAtRuns(workspace, schedules, last.events);
  }
  engine.seen(now, seen);
  const teamMark = seen.teamMark ?? (has.sprint || has.channels || has.forge ? 'sprint' : undefined);
  last.teamMark = teamMark;
  const teamIsDue = team.isDue(teamMark, now);
  const view = await serviceView(workspace, {
    now,
    schedules,
    seen,
    engine,
    teamIsDue,
    slotNotBefore: slots.notBefore,
  });
  // An engine that is killed writes nothing more, and one of the service's own writes all the time.
  const looks = teamMark !== undefined && view.engine === 'service' ? now + DRIVEN_MS : Infinity;
  const again = Math.min(view.engine === 'other' ? now + DRIVEN_MS : Infinity, looks, team.again(teamMark));
  return { decision: decideService(view), again };
}

async function carryOut(
  { workspace, redactor, say }: ServicePorts,
  { engine, slots, team, seen, write }: Parts,
  decision: Exclude<ServiceDecision, { do: 'wait' }>,
): Promise<void> {
  const { clock } = workspace.composition;
  if (decision.do === 'start-engine') {
    failpoint('service.before-engine');
    return engine.start();
  }
  if (decision.do === 'step-team') return team.step(seen.teamMark);
  const { schedule, slot } = decision;
  const slotText = `${schedule}: the slot of ${localTime(slot, clock.now())}`;
  if (decision.do === 'submit') {
    say(slotText);
    failpoint('service.before-slot');
    return slots.submit(schedule, slot);
  }
  const { why } = decision;
  await write((ledger) => recordLeft(ledger, schedule, { slot, at: clock.now(), outcome: 'skipped', why }, redactor));
  say(`${slotText} is skipped: ${why}`);
}

/** The files that each write to the ledger changes. */
function ledgerFiles({ directory }: OpenedWorkspace<Machine>): string[] {
  const path = ledgerPath(directory);
  return [path, `${path}-wal`];
}

/** Throws once the repository or the state is gone: there is nothing left to serve. */
function requirePlace(workspace: OpenedWorkspace<Machine>): void {
  const gone = goneFrom(workspace);
  if (gone !== undefined) throw wrongEnvironment(`${gone} is gone, so there is nothing left to serve`);
}

function goneFrom({ repository, directory }: OpenedWorkspace<Machine>): string | undefined {
  return [repository.root, join(serviceFolder(directory), 'lock.db')].find((path) => !existsSync(path));
}
