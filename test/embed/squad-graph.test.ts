import { join } from 'node:path';
import { Command, isInterrupted, MemorySaver } from '@langchain/langgraph';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSquadGraph } from '../../src/exports/langgraph.ts';
import { createSquad, type Squad } from '../../src/squad/squad.ts';
import { openRunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan } from '../runs/run-script.ts';
import { ALL } from '../support/lane.ts';

function squadFor(): Squad {
  const script = [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL];
  const bench = openRunBench({ script });
  onTestFinished(() => bench.end());
  const { root, repository: cwd } = bench;
  return createSquad({
    cwd,
    environment: { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: join(root, 'state') },
  });
}

describe('the graph of a run for an application', { timeout: 120_000 }, () => {
  it('is kept, asked and resumed by a checkpointer of the application’s own', ALL, async () => {
    const squad = squadFor();
    const graph = createSquadGraph(squad, { trust: 'yes', plan: 'ask', checkpointer: new MemorySaver() });
    const thread = { configurable: { thread_id: 'theirs' } };
    const request = { objective: { text: objective() }, runtime: 'scripted' };
    expect(isInterrupted(await graph.invoke({ request }, thread))).toBe(true);
    const { values, next } = await graph.getState(thread);
    expect([next, values]).toEqual([
      ['ask_person'],
      expect.objectContaining({ questions: [expect.objectContaining({ id: 'plan-1' })] }),
    ]);
    const done = await graph.invoke(new Command({ resume: 'approve' }), thread);
    const [run, ...more] = await squad.runs();
    expect([done.end?.outcome, done.runId, more]).toEqual(['done', run?.runId, []]);
  });

  it('ends while the run waits where nothing keeps it', ALL, async () => {
    const graph = createSquadGraph(squadFor(), { trust: 'yes', plan: 'ask' });
    const { end } = await graph.invoke({ request: { objective: { text: objective() }, runtime: 'scripted' } });
    expect(end).toMatchObject({ outcome: 'waiting', questions: [{ id: 'plan-1' }] });
  });

  it('is drawn, with the engine’s own graph in it', async () => {
    const graph = createSquadGraph(createSquad());
    const names = async (xray: boolean) => Object.keys((await graph.getGraphAsync({ xray })).nodes);
    expect(await names(false)).toEqual(['__start__', 'choose_run', 'drive_run', 'ask_person', '__end__']);
    expect(await names(true)).toEqual(
      expect.arrayContaining([
        'choose_run',
        'drive_run:intake',
        'drive_run:collect',
        'drive_run:publish',
        'ask_person',
      ]),
    );
  });
});
