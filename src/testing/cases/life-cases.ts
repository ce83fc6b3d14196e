import { attach, processEnded, toolRunning } from '../runtime-follow.ts';
import { completed, insist, type RuntimeCase } from '../runtime-stage.ts';

/** Promises about starting, cancelling, detaching and attaching. */
export const LIFE_CASES: readonly RuntimeCase[] = [
  {
    title: 'no agent runs before its identity is committed',
    scenario: 'edit',
    check: async (stage) => {
      const before = stage.bench.received();
      const turn = stage.bench.runtime().start(stage.request(), {
        directory: await stage.bench.directory(),
        onSpawned: () => Promise.reject(new Error('the ledger refused')),
      });
      const result = await turn.result;
      insist(result.failure?.kind === 'never-started', 'the turn continued', result);
      insist(stage.bench.received() === before, 'the agent called its model');
    },
  },
  {
    title: 'a cancelled turn is over within 10 s, and none of its processes is alive',
    scenario: 'long-tool',
    check: async (stage) => {
      const started = await stage.start(stage.request());
      await toolRunning(started);
      const from = performance.now();
      const result = await started.turn.cancel('the operator stopped it');
      const took = performance.now() - from;
      insist(took < 10_000, `the cancel took ${Math.round(took)} ms`);
      insist(result.outcome === 'cancelled', 'the outcome is not `cancelled`', result);
      insist(result.failure?.message === 'the operator stopped it', 'the reason is lost', result);
      const { identity } = started;
      insist(identity !== undefined && !(await stage.bench.alive(identity)), 'the process is still alive');
      insist((await stage.bench.marked(started.request.turnId)).length === 0, 'a child of the turn is still alive');
    },
  },
  {
    title: 'another engine adopts a running turn: the same process, the same result',
    scenario: 'slow',
    check: async (stage) => {
      const started = await stage.start(stage.request());
      await toolRunning(started);
      await started.turn.detach();
      const { identity } = started;
      insist(identity !== undefined && (await stage.bench.alive(identity)), 'detaching ended the process');
      const events: string[] = [];
      const turn = attach(stage, started, ({ type }) => events.push(type));
      const result = await turn.result;
      const completes = result.outcome === 'completed' && result.text.includes('done');
      insist(completes, 'the adopted turn did not complete', result);
      insist(result.usage !== undefined || stage.bench.reportsNoUsage === true, 'the usage is lost', result);
      const hasFirst = events.includes('session-announced') && events.includes('tool-started');
      insist(hasFirst, 'the first events are lost', events);
    },
  },
  {
    title: 'a turn that ended without an engine is harvested, twice with the same result',
    scenario: 'answer',
    check: async (stage) => {
      const started = await stage.start(stage.request());
      await started.turn.detach();
      await processEnded(stage, started);
      const [first, second] = [await attach(stage, started).result, await attach(stage, started).result];
      insist(first.outcome === 'completed' && first.text.includes('hello'), 'the harvest failed', first);
      const same = (result: typeof first) => JSON.stringify({ ...result, durationMs: 0 });
      insist(same(first) === same(second), 'two harvests differ', [first, second]);
    },
  },
  {
    title: 'a turn whose process was killed from outside is lost, never completed',
    scenario: 'long-tool',
    check: async (stage) => {
      const started = await stage.start(stage.request());
      await toolRunning(started);
      await started.turn.detach();
      insist(started.identity !== undefined, 'nothing was spawned');
      for (const pid of await stage.bench.marked(started.request.turnId)) kill(pid);
      await processEnded(stage, started);
      const result = await attach(stage, started).result;
      insist(result.outcome === 'failed' && result.failure?.kind === 'lost', 'the turn was not called lost', result);
    },
  },
  {
    title: 'two turns at the same time do not mix',
    scenario: 'answer',
    check: async (stage) => {
      const [first, second] = await Promise.all([stage.run(stage.request()), stage.run(stage.request())]);
      completed(first);
      completed(second);
      insist(first.result.session?.id !== second.result.session?.id, 'two turns share one session', first.result);
    },
  },
];

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
