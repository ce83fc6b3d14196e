// @module-tag all
import { afterEach, describe, expect, it } from 'vitest';
import { markedPids } from '../../support/marked-pids.ts';
import { openChecksBench, type CheckEngine, type ChecksBench } from './checks-bench.ts';

let bench: ChecksBench;
afterEach(async () => bench.close());

const attemptsOf = ({ ledger }: CheckEngine): string[] =>
  ledger.attempts({}).map(({ id }) => `${shortOf(id)} ${ledger.settlement(id)?.result.outcome ?? 'open'}`);
const shortOf = (text: string): string => text.replace(`${bench.run}.`, '');
const notRun = (output: string) => ({ passed: false, why: 'not-run', output });
const passed = (output: string) => ({ passed: true, output });

describe('the same id', () => {
  it('runs once, at the same time and again', async () => {
    bench = openChecksBench();
    const { checks } = bench.engine;
    const order = bench.order('echo ran >> trace; sleep 0.2; cat trace');
    expect(await Promise.all([checks.run(order), checks.run(order)])).toEqual([passed('ran\n'), passed('ran\n')]);
    expect(await checks.run(order)).toEqual(passed('ran\n'));
    expect(bench.read('trace')).toBe('ran\n');
  });

  it('answers from the ledger in the next engine, also when it failed', async () => {
    bench = openChecksBench();
    const order = bench.order('echo ran >> trace; exit 4');
    const answer = await bench.engine.checks.run(order);
    const next = await bench.reopen();
    expect(await next.checks.run(order)).toEqual(answer);
    expect(bench.read('trace')).toBe('ran\n');
  });

  it('with another command is no evidence of it', async () => {
    bench = openChecksBench();
    const { checks } = bench.engine;
    const first = checks.run(bench.order('sleep 0.2'));
    expect(await checks.run(bench.order('false'))).toMatchObject({ why: 'not-run' });
    expect(await first).toMatchObject({ passed: true });
    expect(await checks.run(bench.order('false'))).toMatchObject({
      why: 'not-run',
      output: expect.stringContaining('another command'),
    });
  });
});

describe('an engine that is gone', () => {
  it('leaves its command to the next one', async () => {
    bench = openChecksBench();
    const order = bench.order('echo ran >> trace; sleep 1; echo done');
    void bench.engine.checks.run(order);
    await bench.until(() => bench.read('trace') === 'ran\n');
    const next = await bench.reopen();
    expect(await next.checks.run(order)).toEqual(passed('done\n'));
    expect(bench.read('trace')).toBe('ran\n');
    expect(bench.taken.map(shortOf)).toEqual(['verify-1 started', 'verify-1 attached']);
  });

  it('that only claimed starts the same try', async () => {
    bench = openChecksBench();
    const order = bench.order('echo ran >> trace');
    const { ledger } = bench.engine;
    const id = `${bench.run}.verify-1`;
    ledger.claimCheck(ledger.acquireLease(bench.run, 'test'), {
      id,
      taskId: 'check:task',
      kind: 'check',
      agent: 'squad-verify',
      runtime: 'check',
      request: requestText(id, order.command, bench.workspace),
    });
    const next = await bench.reopen();
    expect(await next.checks.run(order)).toMatchObject({ passed: true });
    expect(attemptsOf(next)).toEqual(['verify-1 completed']);
  });
});

describe('a try that says nothing about the command', () => {
  it('because it was cancelled is followed by the next one when asked again', async () => {
    bench = openChecksBench();
    const { checks } = bench.engine;
    const order = bench.order('echo ran >> trace; [ "$(wc -l < trace)" -gt 1 ] || sleep 60');
    const first = checks.run(order);
    await bench.until(() => bench.read('trace') === 'ran\n');
    await checks.cancelAll('stopped by hand');
    expect(await first).toEqual(notRun('stopped by hand'));
    expect(markedPids(`${bench.run}.verify-1`)).toEqual([]);
    const next = await bench.reopen();
    expect(await next.checks.run(order)).toMatchObject({ passed: true });
    expect(attemptsOf(next)).toEqual(['verify-1 cancelled', 'verify-1-r2 completed']);
  });

  it('because its wrapper was killed is followed by the next one at once', async () => {
    bench = openChecksBench();
    const order = bench.order('echo ran >> trace; [ "$(wc -l < trace)" -gt 1 ] || kill -9 0');
    expect(await bench.engine.checks.run(order)).toMatchObject({ passed: true });
    expect(attemptsOf(bench.engine)).toEqual(['verify-1 failed', 'verify-1-r2 completed']);
  });

  it('is followed twice in one life, and again in the next', async () => {
    bench = openChecksBench();
    const order = bench.order('echo ran >> trace; [ "$(wc -l < trace)" -gt 3 ] || kill -9 0');
    const answer = await bench.engine.checks.run(order);
    expect(answer).toMatchObject({ why: 'not-run', output: expect.stringContaining('after 3 tries') });
    expect(await bench.engine.checks.run(order)).toEqual(answer);
    expect(attemptsOf(bench.engine)).toHaveLength(3);
    const next = await bench.reopen();
    expect(await next.checks.run(order)).toMatchObject({ passed: true });
    expect(attemptsOf(next).at(-1)).toBe('verify-1-r4 completed');
  });

  it('is not followed once all were cancelled', async () => {
    bench = openChecksBench();
    const order = bench.order('echo ran >> trace; kill -9 0');
    const answer = bench.engine.checks.run(order);
    await bench.until(() => bench.engine.ledger.settlement(`${bench.run}.verify-1`) !== undefined);
    await bench.engine.checks.cancelAll('enough');
    expect(await answer).toEqual(notRun('enough'));
    expect(attemptsOf(bench.engine)).toEqual(['verify-1 failed']);
  });
});

describe('cancelling', () => {
  it('with nothing running does nothing, and new checks run', async () => {
    bench = openChecksBench();
    await bench.engine.checks.cancelAll('nothing');
    expect(await bench.engine.checks.run(bench.order('true'))).toMatchObject({ passed: true });
  });

  it('ends all that run', async () => {
    bench = openChecksBench();
    const { checks } = bench.engine;
    const answers = ['a', 'b'].map(async (id) => checks.run(bench.order('sleep 60', { id })));
    await bench.until(() => bench.taken.length === 2);
    await checks.cancelAll('enough');
    expect(await Promise.all(answers)).toEqual([notRun('enough'), notRun('enough')]);
  });
});

function requestText(turnId: string, prompt: string, path: string): string {
  const limits = { wallMs: 30_000, idleMs: 60_000, retryMs: 30_000, maxOutputBytes: 1_000_000 };
  const request = { turnId, workspace: { path }, prompt, instructions: '', access: { level: 'edit' }, mcp: [], limits };
  return JSON.stringify(request);
}
