import { openMachine, type Host } from '../../engine/machine.ts';
import { POOL_LEASE, type PoolClaim, type PoolRun } from '../../substrate/ports/pool.ts';
import type { TakenSegment } from '../../substrate/ports/trigger.ts';
import { startAttached, type AttachedProgram } from '../../substrate/system/process/start-attached.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { Contact } from './contact.ts';
import { createRefusals } from './refusal.ts';
import type { SegmentOrder, WorkerLine } from './segment-lines.ts';
import { wakeDue, type WakePorts } from './wake.ts';

/** Another worker may take a run that this one may not, and a person may allow it meanwhile. */
const REFUSED_MS = 15_000;

export interface HostingPorts extends WakePorts {
  readonly host: Host;
  /** Names the pool to the processes of its runs. */
  readonly environment: Host['environment'];
  readonly worker: string;
  /** Folder of mirrors and checkouts. */
  readonly repos: string;
  /** Starts a process for one run. */
  readonly command: readonly string[];
  readonly say: (text: string) => void;
  readonly contact: Pick<Contact, 'isSteady'>;
}

interface HostedSegment {
  readonly claim: PoolClaim;
  readonly taken: TakenSegment;
  readonly program: AttachedProgram;
}

/** The runs that one worker has, each in a process of its own. */
export interface HostedSegments {
  /** Resolves once the run is given back. Never rejects. */
  host(taken: TakenSegment): Promise<void>;
  /** Keeps all of them for the time of another lease, and says so to their processes. */
  renew(): Promise<void>;
  write(line: WorkerLine): void;
  /** Runs that this worker may not have, with why. */
  refused(): readonly { readonly run: string; readonly why: string }[];
}

export function createHostedSegments(ports: HostingPorts): HostedSegments {
  const { store, trigger, say, contact } = ports;
  const { clock } = openMachine(ports.host);
  const hosted = new Set<HostedSegment>();
  const refused = new Map<string, string>();
  const refusalOf = createRefusals(ports.host, clock);
  let last: WorkerLine | undefined;
  const hostRun = async (taken: TakenSegment): Promise<void> => {
    const run = await store.run(taken.run);
    const why = await refusalOf(run);
    if (why !== undefined) {
      if (refused.get(run.name) !== why) say(`${run.name}: ${why}`);
      refused.set(run.name, why);
      return trigger.release(taken, { again: clock.now() + REFUSED_MS });
    }
    refused.delete(run.name);
    // After an outage, those who have a run come first.
    if (run.state === 'running' && !contact.isSteady())
      return trigger.release(taken, { again: clock.now() + POOL_LEASE.heldMs });
    const began = clock.monotonic();
    const claim = await store.claim(run.id, ports.worker);
    if (claim === undefined) return trigger.release(taken);
    say(`${run.name}: taken (${claim.epoch})`);
    const program = startSegment(ports, run, { claim, leaseMs: POOL_LEASE.heldMs - (clock.monotonic() - began) });
    const segment = { claim, taken, program };
    hosted.add(segment);
    if (last !== undefined) writeTo(segment, last);
    const { code, problem } = await program.ended;
    hosted.delete(segment);
    if (code !== 0) say(`${run.name}: its process ended with ${problem ?? String(code)}`);
    await trigger.release(taken);
    // Handed on, or asked for something meanwhile.
    if (contact.isSteady()) await wakeDue(ports);
  };
  return {
    host: async (taken) => {
      try {
        await hostRun(taken);
      } catch (error) {
        say(`${taken.run.slice(0, 40)}: ${plainLine(String(error), 300)}`);
        await trigger.release(taken, { again: clock.now() + REFUSED_MS }).catch(() => undefined);
      }
    },
    renew: async () => {
      const all = [...hosted];
      const began = clock.monotonic();
      const kept = await store.renew(all.map(({ claim }) => claim));
      const ms = POOL_LEASE.heldMs - (clock.monotonic() - began);
      for (const one of all) writeTo(one, isAmong(kept, one) ? { type: 'kept', ms } : { type: 'lost' });
      // The store says who has a run: a queue that gives it to another worker too only wakes that one.
      await Promise.all(all.map(async ({ taken }) => trigger.renew(taken)));
    },
    write: (line) => {
      last = line;
      for (const one of hosted) writeTo(one, line);
    },
    refused: () => [...refused].map(([run, why]) => ({ run, why })),
  };
}

function writeTo({ program }: HostedSegment, line: WorkerLine): void {
  program.write(JSON.stringify(line));
}

function isAmong(claims: readonly PoolClaim[], { claim }: HostedSegment): boolean {
  return claims.some(({ run, epoch }) => run === claim.run && epoch === claim.epoch);
}

function startSegment(
  { environment, repos, command, say }: HostingPorts,
  { name }: PoolRun,
  { claim, leaseMs }: { readonly claim: PoolClaim; readonly leaseMs: number },
): AttachedProgram {
  const program = startAttached(command, {
    cwd: repos,
    environment,
    onLine: (line) => say(plainLine(`${name}: ${line}`, 600)),
  });
  program.write(JSON.stringify({ claim, repos, leaseMs } satisfies SegmentOrder));
  return program;
}
