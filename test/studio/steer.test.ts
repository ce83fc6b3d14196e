// @module-tag all
import { describe, expect, it } from 'vitest';
import { gather } from '../../src/text/gather.ts';
import { author, commits, piece, plan } from '../runs/run-script.ts';
import { ALL } from '../support/lane.ts';
import {
  checkpointOf,
  factsOf,
  openStudioBench,
  scriptWith,
  threadOf,
  valuesOf,
  type StudioBench,
} from './studio-bench.ts';

interface Command {
  readonly seq: number;
  readonly verb: string;
}

function commandsIn(bench: StudioBench, id: string): Command[] {
  const ledger = bench.ledger();
  try {
    const events = ledger.events({ stream: id, types: ['operator-command'] });
    return events.map(({ seq, data }) => ({ seq, verb: (data as { verb: string }).verb }));
  } finally {
    ledger.close();
  }
}

async function refusalOf(work: Promise<unknown>): Promise<{ status: number; body: Record<string, unknown> }> {
  const error: unknown = await work.catch((caught: unknown) => caught);
  const response = (error as { getResponse(): Response }).getResponse();
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('an edit of the state', { timeout: 120_000 }, () => {
  it('is a command that a live run of another process hears, once however often it is sent', async () => {
    const bench = await openStudioBench([
      plan([piece('one'), piece('two', { needs: ['one'] })]),
      author('one', [{ sleep: 2_500 }, ...commits({ 'one.txt': 'one\n' })]),
      author('two', commits({ 'two.txt': 'two\n' })),
      ...scriptWith().slice(2),
    ]);
    const engine = bench.startRun();
    await engine.line(({ type, task }) => type === 'attempt-taken' && task === 'one');
    const { view } = bench;
    const id = bench.runId();
    const pauses = Array.from({ length: 5 }, async () => view.updateState(threadOf(id), { verb: 'pause' }));
    const [first, ...more] = await Promise.all(pauses);
    expect(first?.configurable).toMatchObject({ thread_id: id, command: { do: 'pause', seq: expect.any(Number) } });
    for (const one of more) expect(one.configurable?.['command']).toEqual(first?.configurable?.['command']);
    expect(commandsIn(bench, id).map(({ verb }) => verb)).toEqual(['pause']);
    await view.updateState(threadOf(id), { verb: 'resume' });
    await view.updateState(threadOf(id), { verb: 'pause' });
    await view.updateState(threadOf(id), { verb: 'resume' });
    expect(commandsIn(bench, id).map(({ verb }) => verb)).toEqual(['pause', 'resume', 'pause', 'resume']);
    const state = await view.getState(threadOf(id));
    // An old checkpoint steers the run too while it works, because its newest is another by then.
    const [, old] = await gather(view.getStateHistory(threadOf(id), { limit: 2 }));
    const board = valuesOf(state).board.map((line) => (line.startsWith('two:') ? 'two: skipped' : line));
    await view.updateState(threadOf(id, checkpointOf(old)), { board });
    expect((await engine.finished).lines.at(-1)).toMatchObject({ type: 'run-ended' });
    expect((await bench.status()).tasks).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: 'two', status: 'skipped' })]),
    );
  });

  it('is refused with the verbs and names there are, and stores nothing', ALL, async () => {
    const bench = await openStudioBench();
    await bench.runAll();
    const { view } = bench;
    const id = bench.runId();
    const refused = async (edit: unknown, thread = id) => refusalOf(view.updateState(threadOf(thread), edit));
    expect(await refused({ verb: 'retire' })).toMatchObject({
      status: 422,
      body: { verbs: expect.arrayContaining(['retry', 'answer', 'fork']), next: expect.stringContaining('retry') },
    });
    expect(await refused({ verb: 'retry', task: 'oen' })).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('did you mean one?') },
    });
    expect(await refused({ cursor: 1 })).toMatchObject({ status: 422 });
    expect(await refused({ verb: 'pause' })).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('finished') },
    });
    expect(await refused({ verb: 'pause' }, '0199c0de-0000-7000-8000-000000000000')).toMatchObject({
      status: 422,
      body: { next: expect.stringContaining('objective') },
    });
    await expect(view.bulkUpdateState()).rejects.toMatchObject({ status: 422 });
    expect(commandsIn(bench, id)).toEqual([]);
  });

  it('of an old checkpoint is a fork once the run rests, and the parent names it', ALL, async () => {
    const bench = await openStudioBench();
    await bench.runAll();
    const { view } = bench;
    const id = bench.runId();
    const states = await gather(view.getStateHistory(threadOf(id), { limit: 1_000 }));
    const old = states.find(({ values }) => (values as { board?: string[] }).board?.includes('one: live'));
    const edit = { board: valuesOf(old).board.map((line) => line.replace('one: live', 'one: skipped')) };
    const replies = await Promise.all(
      Array.from({ length: 5 }, async () => view.updateState(threadOf(id, checkpointOf(old)), edit)),
    );
    const fork = String(replies[0]?.configurable?.['thread_id']);
    expect(new Set(replies.map(({ configurable }) => configurable?.['thread_id']))).toEqual(new Set([fork]));
    expect(commandsIn(bench, fork).map(({ verb }) => verb)).toEqual(['skip']);
    expect(factsOf(await view.getState(threadOf(id)))).toMatchObject({ forks: [{ thread_id: fork }] });
    const forked = await view.getState(threadOf(fork));
    expect(factsOf(forked)).toMatchObject({ parent: { thread_id: id }, driven: false });
    expect(valuesOf(forked)).toMatchObject({ runId: fork, phase: 'stopped' });
    const other = await view.updateState(threadOf(id, checkpointOf(old)), { verb: 'fork', key: 'another' });
    expect(other.configurable?.['thread_id']).not.toBe(fork);
  });
});
