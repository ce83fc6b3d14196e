// @module-tag all
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRunBench } from '../runs/run-bench.ts';
import { killAll, markedPids } from '../support/marked-pids.ts';
import { author, piece, plan } from '../runs/run-script.ts';
import { stateOf } from '../support/state.ts';

/** A run whose agent is in the middle of a turn, and the folder of this turn. */
async function runInTurn() {
  const bench = openRunBench({ script: [plan([piece('one')]), author('one', [{ sleep: 120_000 }])] });
  const engine = bench.startRun();
  await engine.line(({ type, task }) => type === 'attempt-taken' && task === 'one');
  const spawned = (): string | undefined => {
    const ledger = bench.ledger();
    try {
      return ledger.attempts({ status: 'spawned' }).find(({ taskId }) => taskId === 'one')?.id;
    } finally {
      ledger.close();
    }
  };
  let attempt = spawned();
  for (; attempt === undefined; attempt = spawned()) await sleep(50);
  const marker = attempt;
  onTestFinished(async () => {
    engine.child.kill('SIGKILL');
    await engine.finished;
    for (let left = markedPids(marker); left.length > 0; left = markedPids(marker)) killAll(left);
    bench.end();
  });
  const directory = stateOf(bench.repository);
  const folder = join(directory, 'turns', attempt);
  const ask = (n: number, more: object = {}): void => {
    const question = {
      n,
      tool: 'other',
      title: 'Leave plan mode',
      input: { key: 'TOKEN' },
      deadline: Date.now() + 60_000,
    };
    writeFileSync(join(folder, `ask-${n}.json`), JSON.stringify({ ...question, ...more }));
  };
  const answer = (n: number): unknown => JSON.parse(readFileSync(join(folder, `answer-${n}.json`), 'utf8'));
  return { bench, engine, attempt, folder, ask, answer };
}

describe('an agent that asks a person for permission', { timeout: 120_000 }, () => {
  it('is seen and answered while its engine runs', async () => {
    const { bench, attempt, ask, answer, folder } = await runInTurn();
    expect((await bench.status()).asks).toEqual([]);
    ask(1);
    ask(2, { deadline: Date.now() - 1 });
    ask(3, { n: 0 });
    writeFileSync(join(folder, 'ask-4.json'), '{"n": 4');
    const status = await bench.status();
    expect(status.asks).toMatchObject([
      { id: `${attempt}/ask-1`, text: expect.stringContaining('asks: may it use Leave plan mode? {"key":"TOKEN"}') },
    ]);
    expect(status.next[0]).toBe(`squad answer ${attempt}/ask-1 yes`);
    expect((await bench.run(['status'])).stdout).toContain('asks for permission');

    const wrong = await bench.run(['answer', 'perhaps']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('One of: "yes", "no"')]);
    expect(existsSync(join(folder, 'answer-1.json'))).toBe(false);

    const given = await bench.run(['answer', 'Yes']);
    expect([given.code, given.stdout]).toEqual([0, expect.stringContaining(`${attempt}/ask-1: yes`)]);
    expect(answer(1)).toEqual({ allow: true });
    expect((await bench.status()).asks).toEqual([]);
    const again = await bench.run(['answer', `${attempt}/ask-1`, 'no']);
    expect([again.code, answer(1)]).toEqual([2, { allow: true }]);
  });

  it('is answered without an engine too', async () => {
    const { bench, attempt, ask, answer, engine } = await runInTurn();
    engine.child.kill('SIGKILL');
    await engine.finished;
    ask(1);
    ask(2, { title: undefined, input: undefined });
    expect((await bench.status()).asks.map(({ id }) => id)).toEqual([`${attempt}/ask-1`, `${attempt}/ask-2`]);
    const unclear = await bench.run(['answer', 'no']);
    expect([unclear.code, unclear.stderr]).toEqual([2, expect.stringContaining('2 open questions')]);
    expect((await bench.run(['answer', `${attempt}/ask-2`, 'no'])).code).toBe(0);
    expect(answer(2)).toEqual({ allow: false });
    expect((await bench.status()).asks.map(({ id }) => id)).toEqual([`${attempt}/ask-1`]);
    const log = await bench.run(['log', '--json']);
    expect(log.stdout).toContain(`${attempt}/ask-2`);
  });
});
