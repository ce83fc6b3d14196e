// @module-tag all
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getRuntimeGraphSchema } from '@langchain/langgraph-api/schema';
import { describe, expect, it } from 'vitest';
import { closeDb, openDb } from '../../src/substrate/ledger/index.ts';
import { gather } from '../../src/text/gather.ts';
import { author, piece, plan } from '../runs/run-script.ts';
import { ALL } from '../support/lane.ts';
import { checkpointOf, factsOf, openStudioBench, scriptWith, threadOf, valuesOf } from './studio-bench.ts';
import { stateOf } from '../support/state.ts';

const NODES = [
  ...['intake', 'bind_armory', 'allocate_workspace', 'route_frontier', 'run_agent_attempt'],
  ...['collect', 'reconcile_inbox', 'decide_next', 'ask_human', 'publish'],
];

describe('the view', { timeout: 120_000 }, () => {
  it('draws the graph and has schemas that the server finds', async () => {
    const { view } = await openStudioBench();
    const { nodes } = (await view.getGraphAsync()).toJSON() as { nodes: { id: string }[] };
    expect(nodes.map(({ id }) => id).toSorted()).toEqual([...NODES, '__start__', '__end__'].toSorted());
    expect(await gather(view.getSubgraphsAsync())).toEqual([]);
    const schemas = await getRuntimeGraphSchema(view as unknown as Parameters<typeof getRuntimeGraphSchema>[0]);
    expect(schemas?.input).toMatchObject({
      properties: { objective: { type: 'string' }, messages: { langgraph_type: 'messages' } },
      additionalProperties: false,
    });
    expect(Object.keys(schemas?.state?.properties ?? {})).toEqual(
      expect.arrayContaining(['board', 'questions', 'messages']),
    );
  });

  it('says of a thread that is no run what input it wants', async () => {
    const { view } = await openStudioBench();
    const state = await view.getState(threadOf('0199c0de-0000-7000-8000-000000000000'));
    expect([state.values, state.next, state.tasks]).toEqual([{}, [], []]);
    expect(factsOf(state).notice).toContain('{objective');
    expect(await gather(view.getStateHistory(threadOf('0199c0de-0000-7000-8000-000000000000')))).toEqual([]);
  });

  it('shows a run that ended, and its history in pages', async () => {
    const bench = await openStudioBench();
    await bench.runAll();
    const { view } = bench;
    const id = bench.runId();
    const state = await view.getState(threadOf(id));
    expect(valuesOf(state)).toMatchObject({ runId: id, phase: 'finished', result: { outcome: 'done' } });
    expect(state.next).toEqual([]);
    expect(factsOf(state)).toEqual({ name: 'make-things', driven: false });
    const first = await gather(view.getStateHistory(threadOf(id), { limit: 3 }));
    expect(first.map(checkpointOf)).toHaveLength(3);
    expect(checkpointOf(first[0])).toBe(checkpointOf(state));
    const before = first.at(-1)?.config;
    const rest = await gather(view.getStateHistory(threadOf(id), { limit: 1_000, ...(before ? { before } : {}) }));
    expect(rest.at(-1)?.metadata).toMatchObject({ source: 'input', step: -1 });
    expect(rest.map(checkpointOf)).not.toContain(checkpointOf(first[2]));
    const old = await view.getState(threadOf(id, checkpointOf(rest[0])));
    expect(valuesOf(old)).toEqual(valuesOf(rest[0]));
    await expect(view.getState(threadOf(id, '0199c0de-0000-7000-8000-000000000000'))).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining(checkpointOf(state)),
    });
    // A name is no thread, and there are no subgraphs.
    expect((await view.getState(threadOf('make-things'))).values).toEqual({});
    await expect(view.getState({ configurable: { thread_id: id, checkpoint_ns: 'publish:1' } })).rejects.toMatchObject({
      status: 422,
    });
  });

  it(
    'shows a run of another process while it works, and its question as an interrupt once nothing can move',
    ALL,
    async () => {
      const bench = await openStudioBench([
        author('one', [{ sleep: 1_500 }, { fail: { kind: 'auth', message: 'log in' } }]),
        plan([piece('one')]),
      ]);
      const engine = bench.startRun();
      await engine.line(({ type, task }) => type === 'attempt-taken' && task === 'one');
      const { view } = bench;
      const id = bench.runId();
      const live = await view.getState(threadOf(id));
      expect(factsOf(live)).toMatchObject({ driven: true });
      expect(Object.values(valuesOf(live).inflight)).toEqual(['one']);
      expect(live.next).toEqual(['collect']);
      expect((await engine.finished).code).toBe(3);
      const asking = await view.getState(threadOf(id));
      const [question] = valuesOf(asking).questions;
      expect(asking.next).toEqual(['ask_human']);
      expect(asking.tasks[0]?.interrupts).toMatchObject([{ id: expect.any(String), value: { questions: [question] } }]);
      const [newest] = await gather(view.getStateHistory(threadOf(id), { limit: 1 }));
      expect(newest?.tasks).toEqual(asking.tasks);
      await bench.run(['answer', question?.id ?? '', 'try again']);
      const answered = await view.getState(threadOf(id));
      expect([valuesOf(answered).questions, answered.tasks[0]?.interrupts]).toEqual([[], []]);
    },
  );
});

describe('checkpoints that cannot be read', { timeout: 120_000 }, () => {
  const DAMAGES = {
    'are gone': (path: string) => rmSync(path),
    'are no database': (path: string) => writeFileSync(path, 'not a database, and long enough for a header '.repeat(9)),
    'are cut short': (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 9_000)),
    'have a flipped bit': (path: string) => {
      const db = openDb(path, { applicationId: 0x53514350 });
      db.exec(`UPDATE checkpoints SET checkpoint = replace(checkpoint, 'finished', 'finishes')`);
      closeDb(db);
    },
    'are of a newer squad': (path: string) => {
      const db = openDb(path, { applicationId: 0x53514350 });
      db.pragma('user_version = 7');
      closeDb(db);
    },
  };

  it('leave what the ledger knows, with one message, and are not touched', async () => {
    const bench = await openStudioBench(scriptWith());
    await bench.runAll();
    const { view } = bench;
    const id = bench.runId();
    const path = join(stateOf(bench.repository), 'checkpoints.db');
    const whole = readFileSync(path);
    const before = valuesOf(await view.getState(threadOf(id)));
    for (const [damage, make] of Object.entries(DAMAGES)) {
      for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
      writeFileSync(path, whole);
      make(path);
      const damaged = existsSync(path) ? readFileSync(path) : undefined;
      const state = await view.getState(threadOf(id));
      expect(valuesOf(state), damage).toEqual({ ...before, batch: [] });
      expect(factsOf(state).notice, damage).toContain('shown as the ledger has it');
      expect(await gather(view.getStateHistory(threadOf(id))), damage).toEqual([state]);
      expect(existsSync(path) ? readFileSync(path) : undefined, damage).toEqual(damaged);
      expect(existsSync(`${path}.damaged`), damage).toBe(false);
    }
  });
});
