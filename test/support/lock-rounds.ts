import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockWorkspace, openLedger } from '../../src/substrate/ledger/index.ts';
import { startProgram, type Program } from '../substrate/ledger/programs.ts';

const CONTENDERS = 4;
const TAKEOVER_TIMEOUT_MS = 20_000;
const clock = { now: () => Date.now() };

type Said =
  | { readonly held: true; readonly epoch: number; readonly at: number }
  | { readonly held: false; readonly code: string; readonly message: string };

export interface LockRounds {
  /** ms from the death of each holder to its follower. */
  readonly takeovers: readonly number[];
  /** ms that a newcomer waited for its refusal. */
  readonly refusals: readonly number[];
  readonly harm: readonly string[];
}

/**
 * Four processes want the lock of a workspace; whoever has it, with the garbage collector forced on it, is SIGKILLed, and
 * another one comes in its place. Before, the lock's name is made to be that of a process that lives and holds nothing.
 */
export async function lockRounds(directory: string, rounds: number): Promise<LockRounds> {
  const ledger = openLedger(directory, { clock, ballastBytes: 4096 });
  ledger.createRun({ id: 'r', name: 'r' });
  ledger.close();
  const harm: string[] = [];
  const [takeovers, refusals]: [number[], number[]] = [[], []];
  const enter = (): Program => startProgram('locker', [directory], ['--expose-gc']);
  let contenders = Array.from({ length: CONTENDERS }, enter);
  let killedAt: number | undefined;
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const holder = await holderOf(contenders);
      const { epoch, at } = heldBy(holder) ?? { epoch: 0, at: 0 };
      if (killedAt !== undefined) takeovers.push(at - killedAt);
      if (epoch !== round) harm.push(`round ${round}: epoch ${epoch}`);
      const start = performance.now();
      const told = askHere(directory);
      refusals.push(performance.now() - start);
      if (!told.includes(`PID ${holder.child.pid} on ${hostname()}`)) harm.push(`round ${round}: told ${told}`);
      const holders = contenders.filter((contender) => heldBy(contender) !== undefined);
      if (holders.length !== 1) harm.push(`round ${round}: ${holders.length} holders`);
      // This very process lives, and holds nothing.
      const name = { pid: process.pid, host: hostname(), since: Date.now() };
      writeFileSync(join(directory, 'lock.json'), JSON.stringify(name));
      killedAt = Date.now();
      await holder.kill();
      contenders = [...contenders.filter((contender) => contender !== holder), enter()];
    }
    harm.push(...contenders.flatMap(wrongRefusals));
    return { takeovers, refusals, harm };
  } finally {
    for (const contender of contenders) await contender.kill();
  }
}

async function holderOf(contenders: readonly Program[]): Promise<Program> {
  const deadline = performance.now() + TAKEOVER_TIMEOUT_MS;
  for (;;) {
    const holder = contenders.find((contender) => heldBy(contender) !== undefined);
    if (holder !== undefined) return holder;
    if (performance.now() > deadline)
      throw new Error(`nobody took the lock: ${JSON.stringify(contenders.map(({ said }) => said))}`);
    await sleep(2);
  }
}

function heldBy({ said }: Program): { epoch: number; at: number } | undefined {
  return (said as Said[]).find((line) => line.held);
}

function wrongRefusals({ said }: Program): string[] {
  const others = (said as Said[]).flatMap((line) => (line.held || line.code === 'workspace-busy' ? [] : line.message));
  return others.map((message) => `a contender was refused otherwise: ${message}`);
}

function askHere(directory: string): string {
  try {
    lockWorkspace(directory, { pid: process.pid, host: 'here', since: 0 }).release();
  } catch (error) {
    return String(error);
  }
  return 'two holders';
}
