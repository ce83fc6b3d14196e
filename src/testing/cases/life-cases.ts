import { insist, type RuntimeCase, type Stage, type Started } from '../runtime-stage.ts';
import { completed } from './work-cases.ts';

/** The life of a turn: held, let go, cancelled, left alone, taken over. */
export const LIFE_CASES: readonly RuntimeCase[] = [
  {
    title: 'no agent runs whose identity was not committed',
    scenario: 'edit',
    check: async (stage) => {
      const before = stage.bench.received();
      const turn = stage.bench.runtime().start(stage.request(), {
        directory: await stage.bench.directory(),
        onSpawned: () => Promise.reject(new Error('the ledger said no')),
      });
      const result = await turn.result;
      insist(result.failure?.kind === 'never-started', 'the turn went on', result);
      insist(stage.bench.received() === before, 'the agent reached its model');
    },
  },
  {
    title: 'a cancelled turn is over within 10 s, and nothing of it is alive',
    scenario: 'long-tool',
    check: async (stage) => {
      const started = await stage.start(stage.request());
      await toolOpen(started);
      const from = performance.now();
      const result = await started.turn.cancel('the operator said stop');
      const took = performance.now() - from;
      insist(took < 10_000, `the cancel took ${Math.round(took)} ms`);
      insist(result.outcome === 'cancelled', 'the outcome is not `cancelled`', result);
      insist(result.failure?.message === 'the operator said stop', 'the reason is lost', result);
      insist(
        started.identity !== undefined && !(await stage.bench.alive(started.identity)),
        'the process is still alive',
      );
      insist((await stage.bench.marked(started.request.turnId)).length === 0, 'a child of the turn is still alive');
    },
  },
  {
    title: 'a turn left running is adopted by another engine: the same process, the same result',
    scenario: 'slow',
    check: async (stage) => {
      const started = await stage.start(stage.request());
      await toolOpen(started);
      await started.turn.detach();
      const { identity } = started;
      insist(identity !== undefined && (await stage.bench.alive(identity)), 'detaching ended the process');
      const events: string[] = [];
      const turn = attach(stage, started, (type) => events.push(type));
      const result = await turn.result;
      insist(
        result.outcome === 'completed' && result.text.includes('done'),
        'the adopted turn did not complete',
        result,
      );
      insist(result.usage !== undefined, 'the usage is lost', result);
      insist(
        events.includes('session-announced') && events.includes('tool-started'),
        'the first events are lost',
        events,
      );
    },
  },
  {
    title: 'a turn that ended alone is harvested, twice with one result',
    scenario: 'answer',
    check: async (stage) => {
      const started = await stage.start(stage.request());
      await started.turn.detach();
      await gone(stage, started);
      const [first, second] = [await attach(stage, started).result, await attach(stage, started).result];
      insist(first.outcome === 'completed' && first.text.includes('hello'), 'the harvest failed', first);
      const same = (result: typeof first) => JSON.stringify({ ...result, durationMs: 0 });
      insist(same(first) === same(second), 'two harvests differ', [first, second]);
    },
  },
  {
    title: 'a turn whose process was killed from outside is lost, never done',
    scenario: 'long-tool',
    check: async (stage) => {
      const started = await stage.start(stage.request());
      await toolOpen(started);
      await started.turn.detach();
      insist(started.identity !== undefined, 'nothing was spawned');
      for (const pid of await stage.bench.marked(started.request.turnId)) kill(pid);
      await gone(stage, started);
      const result = await attach(stage, started).result;
      insist(result.outcome === 'failed' && result.failure?.kind === 'lost', 'the turn was not called lost', result);
    },
  },
  {
    title: 'two turns at once do not mix',
    scenario: 'answer',
    check: async (stage) => {
      const [first, second] = await Promise.all([stage.run(stage.request()), stage.run(stage.request())]);
      completed(first);
      completed(second);
      insist(first.result.session?.id !== second.result.session?.id, 'two turns share one session', first.result);
    },
  },
];

function attach(stage: Stage, started: Started, onType?: (type: string) => void) {
  if (started.identity === undefined) throw new Error('nothing was spawned');
  return stage.bench.runtime().attach(started.request, {
    directory: started.directory,
    identity: started.identity,
    spawnedAt: started.spawnedAt,
    onEvent: (event) => onType?.(event.type),
  });
}

async function toolOpen(started: Started): Promise<void> {
  await until('no tool was started', () => started.turn.activity().openTools > 0);
}

async function gone(stage: Stage, started: Started): Promise<void> {
  const { identity } = started;
  await until('the process does not end', async () => identity !== undefined && !(await stage.bench.alive(identity)));
}

async function until(problem: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let waited = 0; waited < 30_000; waited += 50) {
    if (await holds()) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
  throw new Error(problem);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was gone already, which is what the case wants.
  }
}
