// @module-tag all
import { describe, expect, it } from 'vitest';
import { hurriedClock, openPlayerBench, type Step } from './player-bench.ts';
import { allowedMs } from '../../support/busy-machine.ts';

const line = (value: unknown): string => `${JSON.stringify(value)}\n`;
const said = (text: string): string => line({ type: 'text', text });
const result = (text: string) => ({
  type: 'result',
  text,
  usage: { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 },
});

describe('what a runtime prints', () => {
  it.each<[string, Step[], string[]]>([
    ['a line of 1 MB', [{ raw: said('x'.repeat(1_000_000)) }], ['x'.repeat(1_000_000)]],
    ['U+2028 and U+0085 in a line', [{ raw: '{"type":"text","text":"a\u2028b\u0085c"}\n' }], ['a\u2028b\u0085c']],
    ['a line in two pieces', [{ raw: '{"type":"text",' }, { sleep: 120 }, { raw: '"text":"whole"}\n' }], ['whole']],
    ['a carriage return before the newline', [{ raw: '{"type":"text","text":"crlf"}\r\n' }], ['crlf']],
    ['prose and broken JSON between', [{ raw: 'Hello!\n{"type":\n[]\nnull\n' }, { say: 'on' }], ['on']],
    ['unknown events', [{ raw: line({ type: 'weather', sun: true }) }, { say: 'on' }], ['on']],
    ['nesting deeper than any stack', [{ raw: `${'['.repeat(200_000)}\n` }, { say: 'on' }], ['on']],
    ['a prototype in the JSON', [{ raw: '{"__proto__":{"type":"text","text":"no"}}\n' }, { say: 'on' }], ['on']],
  ])('%s', async (_, steps, texts) => {
    const played = await openPlayerBench([...steps, { answer: 'done' }]).run();
    expect(played.events.flatMap((event) => (event.type === 'text' ? [event.text] : []))).toEqual(texts);
    expect(played.result).toMatchObject({ outcome: 'completed', text: 'done' });
  });

  it('bytes that are no UTF-8 become U+FFFD, and the turn goes on', async () => {
    const program = `process.stdout.write(Buffer.from(${JSON.stringify(
      Buffer.from([...Buffer.from('{"type":"text","text":"a'), 0xff, 0xc3, 0x28, ...Buffer.from('b"}\n')]).toString(
        'base64',
      ),
    )}, 'base64'))`;
    // The tool's own output is what is no UTF-8: it writes to the turn's stdout behind the player's back.
    const step = { run: ['sh', '-c', '"$0" -e "$1" > "/proc/$PPID/fd/1"', process.execPath, program] };
    const played = await openPlayerBench([step, { answer: 'done' }]).run();
    expect(played.events.flatMap((event) => (event.type === 'text' ? [event.text] : []))).toEqual(['a\uFFFD\uFFFD(b']);
    expect(played.result.outcome).toBe('completed');
  });

  it('half a line at the end is still read', async () => {
    const played = await openPlayerBench([{ raw: JSON.stringify(result('half')) }, { exit: 0 }]).run();
    expect(played.result).toMatchObject({ outcome: 'completed', text: 'half' });
  });

  it('half a result at the end is no result', async () => {
    const played = await openPlayerBench([{ raw: JSON.stringify(result('half')).slice(0, -1) }, { exit: 0 }]).run();
    expect(played.result).toMatchObject({ outcome: 'failed', failure: { kind: 'protocol' } });
  });

  it.each([
    ['a negative count', { inputTokens: -5, cachedInputTokens: 0, outputTokens: 1 }, undefined],
    ['more than any turn uses', { inputTokens: 1e18, cachedInputTokens: 0, outputTokens: 1 }, undefined],
    [
      'money that cannot be',
      { inputTokens: 2, cachedInputTokens: 0, outputTokens: 1, costUsd: -3 },
      { inputTokens: 2, cachedInputTokens: 0, outputTokens: 1 },
    ],
  ])('%s is unknown use, which is told, and the work counts', async (_what, usage, known) => {
    const said = line({ ...result('done'), usage });
    const played = await openPlayerBench([{ raw: said }, { exit: 0 }]).run();
    expect(played.result).toMatchObject({ outcome: 'completed', text: 'done' });
    expect(played.result.usage).toEqual(known);
    const notices = played.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
    expect(notices).toEqual([expect.stringMatching(/^the use of the turn is unknown: its runtime reported \w+ -?\d/)]);
  });

  it('of two results the last one counts', async () => {
    const played = await openPlayerBench([{ raw: line(result('first')) }, { answer: 'second' }]).run();
    expect(played.result).toMatchObject({ outcome: 'completed', text: 'second' });
  });

  it('a result and then an exit status of failure is no success', async () => {
    const played = await openPlayerBench([{ raw: line(result('done')) }, { exit: 3 }]).run();
    expect(played.result).toMatchObject({ outcome: 'failed', failure: { kind: 'crashed' }, exit: { code: 3 } });
  });

  it('keeps the last of a long stderr', async () => {
    const played = await openPlayerBench([{ stderr: `${'x'.repeat(100_000)}the end` }, { exit: 2 }]).run();
    expect(played.result.stderrTail).toHaveLength(4096);
    expect(played.result.stderrTail.endsWith('the end')).toBe(true);
    expect(played.result.failure?.message).toContain('the end');
  });
});

describe('what reaches the agent', () => {
  it('nothing of the host but the base names and the marker', async () => {
    const environment = {
      GH_TOKEN: 'canary-1',
      NODE_OPTIONS: '--no-warnings',
      SQUAD_FAILPOINTS: '',
      GIT_DIR: 'canary',
    };
    const played = await openPlayerBench([{ run: ['env'] }, { answer: 'done' }], { environment }).run();
    const printed = played.events.find((event) => event.type === 'tool-ended')?.output ?? '';
    const names = printed.split('\n').flatMap((text) => (text.includes('=') ? [text.slice(0, text.indexOf('='))] : []));
    expect(names.filter((name) => !['PWD', 'SHLVL', 'OLDPWD', '_'].includes(name)).toSorted()).toEqual([
      'HOME',
      'PATH',
      'SQUAD_TURN_ID',
    ]);
    expect(printed).not.toContain('canary');
  });
});

describe('watchdogs on a real process', () => {
  it('a process that prints its result and never exits keeps its verdict', async () => {
    const bench = openPlayerBench([{ answer: 'done' }], { lingers: true, clock: hurriedClock(20) });
    const played = await bench.run();
    expect(played.result).toMatchObject({ outcome: 'completed', text: 'done', exit: { signal: 'SIGTERM' } });
    expect(played.result.durationMs).toBeGreaterThan(1000);
  });

  it('a silent tool may take longer than the idle limit', async () => {
    const bench = openPlayerBench([{ run: ['sleep', '1.5'] }, { answer: 'done' }], { clock: hurriedClock(10) });
    expect((await bench.run({ limits: { idleMs: 10_000 } })).result).toMatchObject({ outcome: 'completed' });
  });

  it('the same silence without a tool may not', async () => {
    const bench = openPlayerBench([{ sleep: 15_000 }, { answer: 'done' }], { clock: hurriedClock(10) });
    const { result: ended } = await bench.run({ limits: { idleMs: 10_000 } });
    expect(ended).toMatchObject({ outcome: 'timed-out', failure: { kind: 'stalled', mayHaveActed: false } });
  });

  it('stderr alone is a sign of life', async () => {
    const beat = Array.from({ length: 6 }, () => [{ stderr: '.' }, { sleep: 250 }]).flat();
    const bench = openPlayerBench([...beat, { answer: 'done' }], { clock: hurriedClock(10) });
    expect((await bench.run({ limits: { idleMs: 10_000 } })).result).toMatchObject({ outcome: 'completed' });
  });

  it('the wall counts whatever the agent does', async () => {
    const bench = openPlayerBench([{ run: ['sleep', '30'] }]);
    const { result: ended } = await bench.run({ limits: { wallMs: 1000 } });
    expect(ended).toMatchObject({ outcome: 'timed-out', failure: { kind: 'wall-timeout' } });
    expect(ended.durationMs).toBeLessThan(allowedMs(10_000));
  });

  it('a flood ends as one, and the engine stays small', { timeout: 300_000 }, async () => {
    const event = said('x'.repeat(2000)).trim();
    const flood = { run: ['sh', '-c', 'yes "$0" | head -c 150000000 > "/proc/$PPID/fd/1"; sleep 60', event] };
    const bench = openPlayerBench([flood]);
    let events = 0;
    let most = 0;
    const before = process.memoryUsage.rss();
    const onEvent = (): void => {
      events += 1;
      if (events % 500 === 0) most = Math.max(most, process.memoryUsage.rss());
    };
    const { result: ended } = await bench.run({ onEvent, limits: { maxOutputBytes: 16 * 1024 * 1024 } });
    expect(ended).toMatchObject({ outcome: 'failed', failure: { kind: 'output-flood' } });
    expect(events).toBeGreaterThan(1000);
    expect(most - before).toBeLessThan(150 * 1024 * 1024);
  });
});
