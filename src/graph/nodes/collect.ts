import type { Board } from '../../model/plan/board.ts';
import type { WorkEvent } from '../../model/plan/work.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import { type Activity, decideLiveness, type TurnKind } from '../../rules/liveness.ts';
import { receiversOf } from '../../rules/turn-mail.ts';
import { type LiveRequest, liveRequests, unwantedAttempts } from '../../rules/work-requests.ts';
import type { Withheld } from '../../rules/next.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { plainJson } from '../../text/json.ts';
import { planAttemptId } from '../ports.ts';
import type { SquadStateUpdate, SquadStateValue } from '../state.ts';
import { sharedRoom, type NodeConfig, type NodeContext } from './node-context.ts';

/**
 * Times of the monotonic clock, so that neither a sleeping machine nor a changed clock counts as a stall. After a crash, each wait starts
 * from zero.
 */
interface Sighting {
  spawnedAt: number | null;
  /** The runtime's last sign of life, by the wall clock. Only a change of it counts. */
  sign: number;
  signAt: number | null;
  stalledAt: number | null;
  /** The sign that the stall was counted from. */
  quietSince: number | null;
}

const unseen = (): Sighting => ({ spawnedAt: null, sign: 0, signAt: null, stalledAt: null, quietSince: null });

/** How often to look where no write to the ledger wakes it. */
const POLL_MS = 1_000;
/** Between two looks, whatever is due. */
const LEAST_MS = 10;
/** Most inputs for one step. */
const MOST_INPUTS = 200;

/**
 * The only place that starts attempts and operations: what the board has in flight, also after a crash. Then waits for the
 * first input after the cursor, so a slow agent never holds up a ready task.
 */
export function createCollect(context: NodeContext) {
  const { ports, book } = context;
  const noteStalls = watchLiveness(context);
  return async (state: SquadStateValue, config: NodeConfig): Promise<SquadStateUpdate> => {
    const board = book.boardAt(state.cursor);
    for (const attempt of Object.keys(state.inflight)) ports.attempts.ensure(attempt);
    for (const { attempt, why } of unwantedAttempts(board)) {
      // The settlement is the input to wait for. Errors reach the run's switch.
      void ports.attempts.cancel(planAttemptId(ports, attempt), why).catch(() => undefined);
    }
    ports.operations.ensure(board, state.cursor);
    tellReceivers(context, receiversOf(board));
    failpoint('graph.waiting');
    let version = ports.ledger.dataVersion();
    let look = true;
    /** When a clock of the mail is due, unless something is written before. */
    let mailDue = 0;
    for (;;) {
      const broken = ports.control.broken();
      if (broken !== undefined) throw broken;
      if (look) {
        const inputs = book.inputsAfter(state.cursor, MOST_INPUTS);
        if (inputs.length > 0) {
          ports.workClock.resume();
          return { batch: inputs.map(({ seq }) => seq), starts: [] };
        }
      }
      if (config.control?.drainRequested === true) return { batch: [], starts: [] };
      const { fired, due } = fireTimers(context, state.runId);
      const noted = noteStalls(board);
      const isTickDue = look || mailDue <= ports.clock.now();
      const ticked = isTickDue && ports.ledger.mail.tick(state.runId) > 0;
      if (isTickDue) mailDue = ports.ledger.mail.nextDue(state.runId) ?? Infinity;
      if (fired || noted || ticked || (context.withheld !== undefined && noteRoom(context, context.withheld))) {
        look = true;
        continue;
      }
      const wait = Math.min(POLL_MS, Math.max(LEAST_MS, Math.min(due, mailDue) - ports.clock.now()));
      const woken = await ports.wakeSignal.wait(wait);
      const now = ports.ledger.dataVersion();
      look = woken || now !== version;
      version = now;
    }
  };
}

/** A turn of another run has ended, a day has begun, a limit was raised or an account's has ended: turns that were withheld may start. */
function noteRoom({ ports }: NodeContext, { limited }: Withheld): boolean {
  const { shared } = ports.ledger.spending(ports.lease.runId);
  const isStill =
    limited === undefined
      ? shared !== undefined && sharedRoom(ports, shared).free === 0
      : areSame(limited, shared?.limited);
  if (isStill) return false;
  ports.ledger.note(ports.lease, RUN_EVENTS.woken, { why: 'the limits of all runs leave it a turn' });
  return true;
}

function areSame(before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number> | undefined): boolean {
  return now?.size === before.size && [...now].every(([account, until]) => before.get(account) === until);
}

function tellReceivers(context: NodeContext, able: readonly string[]): void {
  if (context.receivers === able.join()) return;
  context.ports.ledger.mail.receivers(context.ports.lease, able);
  context.receivers = able.join();
}

/** By the wall clock, so that a machine that slept finds what is due. `due`: when the next one is, if it is soon. */
function fireTimers({ ports }: NodeContext, runId: string): { readonly fired: boolean; readonly due: number } {
  const now = ports.clock.now();
  let fired = false;
  for (const timer of ports.ledger.dueTimers(now + POLL_MS)) {
    if (timer.runId !== runId) continue;
    if (timer.dueAt > now) return { fired, due: timer.dueAt };
    if (ports.ledger.fireTimer(ports.lease, timer.id) !== undefined) fired = true;
  }
  return { fired, due: Infinity };
}

function activityOf(
  { spawnedAt, signAt, stalledAt, quietSince }: Sighting,
  stalls: number,
): Omit<Activity, 'firstToolAt'> {
  return { spawnedAt, lastSignAt: signAt, stalledAt, quietSince, stalls };
}

/** Makes the look at live turns, which notes stalls as inputs and returns whether it noted something. */
function watchLiveness({ ports }: NodeContext): (board: Board) => boolean {
  const sightings = new Map<string, Sighting>();

  const sightingOf = (id: string): Sighting => {
    const known = sightings.get(id) ?? unseen();
    sightings.set(id, known);
    return known;
  };

  const seen = (live: LiveRequest, board: Board): WorkEvent | undefined => {
    const { attempt, state, request } = live;
    const id = planAttemptId(ports, attempt);
    const activity = ports.attempts.activity(id);
    if (activity === undefined || state.stop !== null) return undefined;
    const now = ports.clock.monotonic();
    const sighting = sightingOf(id);
    if (sighting.spawnedAt === null && (ports.ledger.attempt(id)?.process ?? null) !== null) sighting.spawnedAt = now;
    if (activity.lastSignOfLifeAt !== sighting.sign) sighting.signAt = now;
    sighting.sign = activity.lastSignOfLifeAt;
    sighting.stalledAt = state.stall === null ? null : (sighting.stalledAt ?? now);
    const decision = decideLiveness(
      { ...activityOf(sighting, request.used.stalls), firstToolAt: activity.firstToolAt ?? null },
      kindOf(live, board),
      now,
      { ms: gateSeconds(ports, state.agent) * 1000, fallbacks: board.facts.limits.stallFallbacks },
    );
    switch (decision.do) {
      case 'stall':
        sighting.quietSince = decision.since;
        return { type: 'wall-raised', attempt, why: decision.why };
      case 'clear-stall':
        return { type: 'wall-cleared', attempt, why: decision.why };
      case 'fall-back':
        return { type: 'wall-fallback', attempt, fallback: decision.fallback };
      case 'nothing':
        return undefined;
    }
  };

  const forgetEnded = (requests: readonly LiveRequest[]): void => {
    const live = new Set(requests.map(({ attempt }) => planAttemptId(ports, attempt)));
    for (const id of sightings.keys()) if (!live.has(id)) sightings.delete(id);
  };

  return (board) => {
    const requests = liveRequests(board);
    if (sightings.size > 2 * requests.length) forgetEnded(requests);
    const news = requests.flatMap((live) => {
      const event = seen(live, board);
      return event === undefined ? [] : [{ task: live.task, event }];
    });
    for (const one of news) ports.ledger.note(ports.lease, RUN_EVENTS.work, plainJson(one));
    return news.length > 0;
  };
}

function gateSeconds({ limits, definition }: NodeContext['ports'], agent: string): number {
  return definition.agents.find(({ name }) => name === agent)?.limits?.firstToolSeconds ?? limits.firstToolSeconds;
}

function kindOf({ task, review }: LiveRequest, board: Board): TurnKind {
  if (review !== null) return 'review';
  return board.tasks.get(task)?.task.workspace === 'none' ? 'author-without-files' : 'author';
}
