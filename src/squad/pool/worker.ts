import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { openMachine } from '../../engine/machine.ts';
import { errorText, isSquadError } from '../../model/errors.ts';
import { POOL_LEASE } from '../../substrate/ports/pool.ts';
import { plainJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { createContact, type Contact } from './contact.ts';
import { createHostedSegments, type HostedSegments, type HostingPorts } from './hosted-segments.ts';
import { wakeDue } from './wake.ts';

/** Runs whose wake-up was lost get another one. */
const SWEEP_MS = 30_000;

export interface WorkerPorts extends Omit<HostingPorts, 'contact'> {
  readonly labels: readonly string[];
  /** The most runs at once. */
  readonly slots: number;
  readonly version: string;
  readonly machine: string;
  /** Ends after its first run. */
  readonly once: boolean;
  /** Aborted: takes no more, and hands its runs on at the end of their turns. */
  readonly draining: AbortController;
  /** Aborted: hands its runs on now. */
  readonly leaving: AbortSignal;
}

/** Takes runs of the pool until it is to end. Throws `usage` while another worker has its name. */
export async function runWorker(ports: WorkerPorts): Promise<void> {
  const { trigger, labels, once, slots, draining, leaving, say, worker } = ports;
  await mkdir(ports.repos, { recursive: true, mode: 0o700 });
  const contact = createContact(openMachine(ports.host).clock);
  const segments = createHostedSegments({ ...ports, contact });
  const register = createRegister(ports, segments);
  await register();
  const working = new Set<Promise<void>>();
  const stop = await trigger.take({ labels, slots: once ? 1 : slots }, (taken) => {
    const one = segments.host(taken).finally(() => {
      working.delete(one);
      if (once) draining.abort();
    });
    working.add(one);
  });
  say(`worker ${worker} takes runs, ${once ? 1 : slots} at once`);
  const ended = new AbortController();
  const keeping = keepAlive(ports, { segments, register, contact, ended: ended.signal });
  const sweeping = sweep(ports, contact, draining.signal);
  leaving.addEventListener('abort', () => segments.write({ type: 'leave' }), { once: true });
  await aborted(draining.signal);
  await stop();
  if (working.size > 0) say(`worker ${worker} takes no more, and hands its runs on once their turns have ended`);
  if (!leaving.aborted) segments.write({ type: 'drain' });
  // Runs that were handed over while it stopped are among them.
  while (working.size > 0) await Promise.all(working);
  ended.abort();
  await Promise.all([keeping, sweeping]);
  say(`worker ${worker} has ended`);
}

/** Also says what this worker leaves to others, so that people see why a run waits. */
function createRegister(ports: WorkerPorts, segments: HostedSegments): () => Promise<{ readonly isDraining: boolean }> {
  const { store, worker: name, version, machine: host, labels, slots } = ports;
  const instance = randomUUID();
  return async () => {
    const offers = plainJson({ refused: segments.refused() });
    return store.register({ name, instance, version, host, labels, slots, offers });
  };
}

/** Renews all that it has, until nothing is left. */
async function keepAlive(
  { host, draining, say }: WorkerPorts,
  of: {
    readonly segments: HostedSegments;
    readonly register: () => Promise<{ readonly isDraining: boolean }>;
    readonly contact: Contact;
    readonly ended: AbortSignal;
  },
): Promise<void> {
  const { clock } = openMachine(host);
  let problem: string | undefined;
  while (!of.ended.aborted) {
    const began = clock.monotonic();
    try {
      await of.segments.renew();
      if ((await of.register()).isDraining) draining.abort();
      if (problem !== undefined) say('the pool answers again');
      problem = undefined;
      of.contact.answered();
    } catch (error) {
      of.contact.failed();
      const text = plainLine(errorText(error), 300);
      if (problem === undefined) say(`the pool does not answer: ${text}`);
      problem = text;
      // People removed it, or another process has its name.
      if (isSquadError(error) && error.code === 'usage') draining.abort();
    }
    await clock.sleep(Math.max(0, POOL_LEASE.renewMs - (clock.monotonic() - began)), of.ended);
  }
}

async function sweep(ports: WorkerPorts, contact: Contact, ended: AbortSignal): Promise<void> {
  const { clock } = openMachine(ports.host);
  while (!ended.aborted) {
    // The next one finds again all that fails now.
    if (contact.isSteady()) await wakeDue(ports).catch(() => undefined);
    await clock.sleep(SWEEP_MS, ended);
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
