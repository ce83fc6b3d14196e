import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosAgent } from '../../test/support/chaos-agent.ts';
import { ended } from './scripted-room.ts';

/** The same work for each tool. */
export interface PeerPlan {
  /** Of the repository, as a scripted room has them. */
  readonly files: number;
  readonly tasks: number;
  /** Turns of each task, one after the other. */
  readonly steps: number;
  readonly turnMs: number;
  readonly parallel: number;
}

/** Epoch ms. */
interface Span {
  readonly start: number;
  readonly end: number;
}

export interface PeerTimes {
  readonly command: Span;
  /** From the birth of an agent's process to its answer, in the order of their starts. */
  readonly turns: readonly Span[];
  /** The most memory that the tool's own process had, resident. */
  readonly megabytes: number;
}

const LOOK_MS = 50;

/** Starts the command of a tool, and follows it until it has ended by itself. Rejects unless it says that all is done. */
export async function followTimes(start: () => ChildProcess, agent: ChaosAgent): Promise<PeerTimes> {
  const began = Date.now();
  const child = start();
  const over = { is: false };
  const done = ended(child).finally(() => (over.is = true));
  let megabytes = 0;
  while (!over.is) {
    megabytes = Math.max(megabytes, mostMegabytes(child.pid ?? 0));
    await Promise.race([sleep(LOOK_MS), done.catch(() => undefined)]);
  }
  await done;
  const command = { start: began, end: Date.now() };
  const ends = new Map(agent.ends().map(({ pid, at }) => [pid, at]));
  const turns = agent.turns().map(({ pid, at }) => ({ start: at, end: ends.get(pid) ?? Number.NaN }));
  return { command, megabytes, turns: turns.toSorted((one, two) => one.start - two.start) };
}

/** 0: it has ended. */
function mostMegabytes(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
