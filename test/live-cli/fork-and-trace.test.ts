import { afterEach, describe, expect, it } from 'vitest';
import { openCollector, wrongIn, type Collected } from '../support/collector.ts';
import type { Finished } from '../support/engine.ts';
import { footprintOf } from '../support/fork-footprint.ts';
import { git } from '../support/git.ts';
import { expectWholeTrace } from '../support/whole-trace.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY } from './codex-harness.ts';
import { openWholeRunRoom, processesOf, type WholeRunRoom } from './whole-run-room.ts';
import { PRODUCT, RIGHT_SUM } from './whole-run-script.ts';

const test = it.skipIf(CLAUDE_BINARY === undefined || CODEX_BINARY === undefined);
const RUN = ['run', 'objective.md', '--json', '--yes', '--name', 'first'];

let room: WholeRunRoom;
afterEach(() => room.close());

function expectDone(end: Finished, run: string): void {
  const { repository } = room.engine;
  expect(room.model.strange).toEqual([]);
  expect([end.code, end.lines.at(-1)?.['outcome']], end.stderr + end.stdout.slice(-4000)).toEqual([0, 'done']);
  expect(`${git(repository, 'show', `squad/${run}:lib/sum.mjs`)}\n`).toBe(RIGHT_SUM);
  expect(`${git(repository, 'show', `squad/${run}:lib/product.mjs`)}\n`).toBe(PRODUCT);
}

function eventsOf(run: string): readonly number[] {
  const ledger = room.engine.ledger();
  try {
    return ledger.events({ stream: ledger.run(run)?.id ?? '' }).map(({ seq }) => seq);
  } finally {
    ledger.close();
  }
}

describe('a run with the real claude and codex', () => {
  test('is forked at a third and at two thirds: both forks are done, and it stays as it was', async () => {
    room = await openWholeRunRoom({ planner: 'claude', reviewer: 'codex' });
    const { engine, environment, gate } = room;
    gate.open();
    expectDone(await engine.run(RUN, environment), 'first');
    const events = eventsOf('first');
    const before = footprintOf(engine, 'first');
    for (const [name, part] of [
      ['third', 1 / 3],
      ['two-thirds', 2 / 3],
    ] as const) {
      const at = String(events[Math.floor(events.length * part)]);
      const forked = await engine.run(['fork', 'first', '--at', at, '--name', name, '--json'], environment);
      expect(forked.code, forked.stderr).toBe(0);
      expect(footprintOf(engine, 'first')).toEqual(before);
      expectDone(await engine.run(['resume', name, '--json'], environment), name);
      expect(footprintOf(engine, 'first')).toEqual(before);
    }
    expect(await processesOf(engine.root)).toEqual([]);
  }, 300_000);

  test.each(['otlp', 'langsmith'] as const)(
    'is whole trees in a collector for %s, also killed in mid-turn and resumed',
    async (sink) => {
      const collector = await openCollector();
      try {
        room = await openWholeRunRoom({ planner: 'codex', reviewer: 'claude' });
        const { engine, gate } = room;
        const environment = { ...room.environment, ...collector.environment };
        const first = engine.start([...RUN, '--trace', sink], environment);
        await Promise.race([gate.reached, first.finished]);
        first.child.kill('SIGKILL');
        await first.finished;
        gate.open();
        const end = await engine.run(['resume', '--json', '--trace', sink], environment);
        expectDone(end, 'first');
        const live = collector.tree();
        // The second engine reads what the tools of adopted turns did again: the same spans in the same places.
        expect(wrongIn(collector.spans())).toEqual([]);
        expectWholeTrace(engine, live);
        for (const runtime of ['claude', 'codex']) expect(toolsOf(runtime, live), runtime).not.toEqual([]);
        const again = await engine.run(['trace', 'first', '--to', sink, '--json'], environment);
        expect(again.code, again.stderr).toBe(0);
        expectWholeTrace(engine, collector.tree());
        expect([...collector.tree().keys()].toSorted()).toEqual([...live.keys()].toSorted());
      } finally {
        await collector.close();
      }
    },
    300_000,
  );
});

/** Tool calls below turns of this runtime. */
function toolsOf(runtime: string, tree: ReadonlyMap<string, Collected>): string[] {
  return [...tree.values()].flatMap(({ name, parent, about }) =>
    about['tool'] !== undefined && tree.get(parent ?? '')?.about['runtime'] === runtime ? [name] : [],
  );
}
