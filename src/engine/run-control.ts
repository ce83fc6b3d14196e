import { RunControl } from '@langchain/langgraph';
import type { Supervisor } from './attempts/supervisor.ts';
import type { Checks } from './checks/run-checks.ts';
import type { WakeSignal, RunSwitch } from '../graph/ports.ts';
import { RUN_EVENTS } from '../model/run.ts';
import type { Clock } from '../substrate/ports/clock.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';
import type { Processes } from '../substrate/ports/processes.ts';

/** How long a killed turn may take to settle. */
const SETTLE_MS = 500;

export interface ControlPorts {
  readonly ledger: Ledger;
  readonly lease: Lease;
  readonly processes: Processes;
  readonly clock: Clock;
  readonly supervisor: Supervisor;
  readonly checks: Checks;
  readonly wakeSignal: WakeSignal;
  /** Sequence number of the last event before the segment. Commands up to it were for another segment. */
  readonly since: number;
}

/** Ends a segment from outside: on a signal, on an operator's `stop`, or because the machine is broken. */
export interface SegmentControl extends RunSwitch {
  readonly graph: RunControl;
  drain(by: string): void;
  cancel(reason: string): Promise<void>;
  kill(): Promise<void>;
  fail(error: unknown): void;
  /** Its turns and checks are being ended, or the machine is broken. */
  leaving(): boolean;
  /** Ends the running turns; the run decides what follows. */
  cancelTurns(reason: string): void;
  wake(why: string): void;
  /** The wall clock was set back by `ms`: every wait ends that much earlier. */
  clockSetBack(ms: number): void;
  stopped(): string | undefined;
}

export function createSegmentControl(ports: ControlPorts): SegmentControl {
  const { ledger, lease, supervisor, wakeSignal } = ports;
  const graph = new RunControl();
  let draining = false;
  let interrupted = false;
  let stoppedBy: string | undefined;
  let error: unknown;

  const attempt = (write: () => unknown): void => {
    try {
      write();
    } catch (problem) {
      error ??= problem;
    }
    wakeSignal.raise();
  };
  const interrupt = async (work: () => Promise<void>): Promise<void> => {
    draining = true;
    interrupted = true;
    await work();
    graph.requestDrain('interrupted');
    wakeSignal.raise();
  };
  const cancel = async (reason: string): Promise<void> =>
    interrupt(async () => {
      await cancelLive(ports, reason);
      // Turns that started while the others ended.
      await cancelLive(ports, reason);
    });
  return {
    graph,
    draining: () => draining,
    broken: () => error,
    leaving: () => interrupted || error !== undefined,
    stopped: () => stoppedBy,
    wake: (why) => attempt(() => ledger.note(lease, RUN_EVENTS.woken, { why })),
    clockSetBack: (ms) => attempt(() => ledger.note(lease, RUN_EVENTS.clockSetBack, { ms })),
    drain: (by) => {
      if (!draining) attempt(() => ledger.command(lease.runId, 'drain', {}, by));
      draining = true;
    },
    cancel,
    kill: async () => interrupt(async () => killLive(ports)),
    cancelTurns: (reason) => {
      for (const id of supervisor.live()) void supervisor.cancel(id, reason).catch(() => undefined);
    },
    fail: (problem) => {
      // A failure while the segment ends is a result of that.
      if (!interrupted) error ??= problem;
      wakeSignal.raise();
    },
    stop: ({ seq, by }) => {
      if (seq <= ports.since || stoppedBy !== undefined) return;
      stoppedBy = by;
      void cancel(`stopped by ${by}`);
    },
  };
}

async function cancelLive({ checks, supervisor }: ControlPorts, reason: string): Promise<void> {
  const turns = supervisor.live().map(async (id) => supervisor.cancel(id, reason).catch(() => undefined));
  await Promise.all([checks.cancelAll(reason), ...turns]);
}

async function killLive({ supervisor, processes, clock }: ControlPorts): Promise<void> {
  const live = supervisor.live();
  const settled = live.map(async (id) => supervisor.cancel(id, 'killed').catch(() => undefined));
  await Promise.all(live.map(async (id) => processes.sweep(id)));
  // The next engine settles a turn whose process outlives even this.
  await Promise.race([Promise.all(settled), clock.sleep(SETTLE_MS)]);
}
