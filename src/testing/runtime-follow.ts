import { setTimeout } from 'node:timers/promises';
import type { TurnEvent } from '../model/turn-event.ts';
import type { Turn } from '../runtimes/port/agent-runtime.ts';
import type { Stage, Started } from './runtime-stage.ts';

/** Follows the turn as an engine that did not start it. */
export function attach(stage: Stage, started: Started, onEvent?: (event: TurnEvent) => void): Turn {
  if (started.identity === undefined) throw new Error('nothing was spawned');
  return stage.bench.runtime().attach(started.request, {
    directory: started.directory,
    identity: started.identity,
    spawnedAt: started.spawnedAt,
    ...(onEvent === undefined ? {} : { onEvent }),
  });
}

export async function toolRunning(started: Started): Promise<void> {
  await until('no tool was started', () => started.turn.activity().openTools > 0);
}

export async function processEnded(stage: Stage, started: Started): Promise<void> {
  const { identity } = started;
  await until('the process does not end', async () => identity !== undefined && !(await stage.bench.alive(identity)));
}

export async function until(problem: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let waited = 0; waited < 30_000; waited += 50) {
    if (await holds()) return;
    await setTimeout(50);
  }
  throw new Error(problem);
}
