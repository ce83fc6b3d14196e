import { describe, expect, it } from 'vitest';
import type { LedgerEvent } from '../../src/model/ledger-event.ts';
import { RUN_EVENTS } from '../../src/model/run.ts';
import { isJsonObject } from '../../src/text/json.ts';
import { runStatusSchema } from '../../src/view/status.ts';
import { ALL, NIGHT } from '../support/lane.ts';
import { openRunBench, startsOf } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';

/** A zone in which it is about noon, so that no day begins during a test. */
const NOON = zoneAtNoon(new Date().getUTCHours());

function zoneAtNoon(hour: number): string {
  const east = 12 - hour;
  return east === 0 ? 'UTC' : `Etc/GMT${east > 0 ? '-' : '+'}${Math.abs(east)}`;
}

const serve = (limits: object) => ({ serve: { timezone: NOON, limits } });

describe('limits of all runs together', { timeout: 300_000 }, () => {
  it('turnsPerDay: the run waits for the next day, and goes on once the file allows more', ALL, async (test) => {
    const script = [
      plan([piece('a'), piece('b')]),
      ...['a', 'b'].map((id) => author(id, commits({ [id]: id }))),
      APPROVE_ALL,
    ];
    const bench = openRunBench({ script, settings: serve({ turnsPerDay: 2 }) });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll(['--no-wait']);
    expect(ended.code, ended.stderr).toBe(4);
    expect(startsOf(ended)).toHaveLength(2);
    const { waitingFor } = runStatusSchema.parse(await bench.status());
    expect(waitingFor).toMatchObject({
      for: 'time',
      why: expect.stringContaining('2 of 2 turns started today') as string,
    });
    // Without room it only says so again.
    const early = await bench.run(['resume', '--no-wait', '--json']);
    expect([early.code, startsOf(early)]).toEqual([4, []]);
    bench.settings(serve({ turnsPerDay: 50 }));
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
  });

  it('parallelTurns: two runs of one process share one turn, and both are done', ALL, async (test) => {
    const slow = (id: string) => author(id, [{ run: ['sleep', '1'] }, ...commits({ [id]: id })]);
    const script = [plan([piece('a'), piece('b'), piece('c')]), ...['a', 'b', 'c'].map(slow), APPROVE_ALL];
    const bench = openRunBench({ script, settings: serve({ turnsPerDay: 1 }) });
    test.onTestFinished(() => bench.end());
    expect((await bench.runAll(['--no-wait'])).code).toBe(4);
    expect((await bench.runAll(['--no-wait', '--name', 'second'])).code).toBe(4);
    bench.settings(serve({ parallelTurns: 1 }));
    const resumed = await bench.run(['resume', '--all', '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
    const ledger = bench.ledger();
    const events = ledger.events({});
    ledger.close();
    const turns = turnsIn(events);
    expect(Math.max(...turns.map(({ live }) => live))).toBe(1);
    // Neither waits until the other one is done: the one that waits comes next.
    const waits = events.filter(
      (one) => one.type === RUN_EVENTS.decided && JSON.stringify(one.data).includes('at once'),
    );
    expect(waits.length).toBeGreaterThanOrEqual(1);
    for (const { seq, stream } of waits) {
      const after = events.filter((one) => one.seq > seq && one.type === 'attempt-claimed' && isTurn(one));
      expect(after.findIndex((one) => one.stream === stream)).toBeLessThanOrEqual(1);
    }
    // No refused claim, and a run is woken at most once for each turn that ends.
    const of = (type: string) => events.filter((event) => event.type === type).length;
    expect(of('claim-refused')).toBe(0);
    expect(of(RUN_EVENTS.woken)).toBeLessThanOrEqual(turns.length);
  });

  it('the runs of one engine share `limits.parallel`, each by its own', ALL, async (test) => {
    const slow = (id: string) => author(id, [{ run: ['sleep', '0.3'] }, ...commits({ [id]: id })]);
    const script = [plan([piece('a'), piece('b')]), slow('a'), slow('b'), APPROVE_ALL];
    const bench = openRunBench({ script, settings: { limits: { parallel: 1 } } });
    test.onTestFinished(() => bench.end());
    for (const name of ['first', 'second']) {
      const added = await bench.run(['add', 'objective.md', '--runtime', 'scripted', '--yes', '--name', name]);
      expect(added.code, added.stderr).toBe(0);
    }
    const swept = await bench.run(['resume', '--all', '--json']);
    expect(swept.code, swept.stderr).toBe(0);
    const ledger = bench.ledger();
    const turns = turnsIn(ledger.events({}));
    ledger.close();
    expect(Math.max(...turns.map(({ live }) => live))).toBe(1);
    // Both were at work, turn by turn.
    const [first, second] = new Set(turns.map(({ stream }) => stream));
    expect(second).toBeDefined();
    const last = turns.findLastIndex(({ stream }) => stream === first);
    expect(turns.findIndex(({ stream }) => stream === second)).toBeLessThan(last);
  });

  it('at midnight a run that waits continues by itself', NIGHT, async (test) => {
    const script = [plan([piece('a')]), author('a', commits({ a: 'a' })), APPROVE_ALL];
    const settings = { serve: { timezone: zoneWithMidnightSoon(), limits: { turnsPerDay: 2 } } };
    const bench = openRunBench({ script, settings });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(0);
    const taken = startsOf(ended).map(({ at }) => Math.floor(Number(at) / 60_000));
    expect(new Set(taken).size).toBe(2);
  });

  it('at midnight a host that left a run takes it up again', NIGHT, async (test) => {
    const script = [plan([piece('a')]), author('a', commits({ a: 'a' })), APPROVE_ALL];
    const settings = { serve: { timezone: zoneWithMidnightSoon(), limits: { turnsPerDay: 2 } } };
    const bench = openRunBench({ script, settings });
    test.onTestFinished(() => bench.end());
    const added = await bench.run(['add', 'objective.md', '--runtime', 'scripted', '--yes']);
    expect(added.code, added.stderr).toBe(0);
    const host = bench.start(['resume', '--all', '--every', '1s', '--json']);
    await host.line(({ type, outcome }) => type === 'run-ended' && outcome === 'stopped');
    await host.line(({ type, outcome }) => type === 'run-ended' && outcome === 'done');
    host.child.kill('SIGTERM');
    await host.finished;
  });
});

/** The turns of all runs, as they begin and end. */
function turnsIn(events: readonly LedgerEvent[]): { readonly stream: string; readonly live: number }[] {
  let live = 0;
  return events.flatMap((event) => {
    if (!isTurn(event) || !['attempt-claimed', 'attempt-settled'].includes(event.type)) return [];
    live += event.type === 'attempt-claimed' ? 1 : -1;
    return [{ stream: event.stream, live }];
  });
}

function isTurn({ data }: LedgerEvent): boolean {
  return isJsonObject(data) && data['kind'] === 'turn';
}

/** Its next midnight is the first full minute that is at least 15 s away. */
function zoneWithMidnightSoon(): string {
  const minute = Math.ceil((Date.now() + 15_000) / 60_000) % (24 * 60);
  const [sign, ahead] = minute > 12 * 60 ? ['+', 24 * 60 - minute] : ['-', minute];
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${sign}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`;
}
