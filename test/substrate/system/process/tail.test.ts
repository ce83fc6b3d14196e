import { spawn as spawnProcess } from 'node:child_process';
import { appendFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fc, test as property } from '@fast-check/vitest';
import { afterAll, describe, expect, test } from 'vitest';
import type { OutputLine, TurnEnding } from '../../../../src/substrate/ports/processes.ts';
import { startOfLastLines, tailFile } from '../../../../src/substrate/system/process/tail.ts';
import { RUN_TYPESCRIPT, clock, collect, createTurnBench, never, processes } from './turn-bench.ts';
import { allowedMs } from '../../../support/busy-machine.ts';
import { ALL } from '../../../support/lane.ts';

const bench = createTurnBench();
afterAll(() => bench.close());

const GIB = 1024 ** 3;
const texts = (lines: readonly OutputLine[]): string[] =>
  lines.map((line) => (line.type === 'gap' ? line.type : line.text));
const newFile = (): string => join(bench.directory(), 'stdout');

describe('tailing a file', () => {
  test('follows what is written in pieces, to the end of the turn', async () => {
    const spawn = bench.spawnOf('writes-slowly');
    const held = await processes.spawnTurn(spawn);
    const ended = new AbortController();
    const lines = collect(processes.tail(join(spawn.directory, 'stdout'), ended.signal));
    await held.go();
    await processes.waitForEnding(held.identity, spawn.directory, never());
    ended.abort();
    expect(texts(await lines)).toEqual(['zwölf', 'Boxkämpfer']);
  });

  test('odd bytes and half a line at exit', async () => {
    const spawn = bench.spawnOf('invalid-utf8');
    await bench.finish(spawn);
    const lines = await collect(processes.tail(join(spawn.directory, 'stdout'), AbortSignal.abort()));
    expect(texts(lines)).toEqual(['{"a":1}', 'b\uFFFD\uFFFDb', 'one\u2028line\u0085only\0', '{"half":']);
    expect(lines.at(-1)?.type).toBe('rest');
  });

  test('a file that never comes has no lines', async () => {
    expect(await collect(processes.tail(newFile(), AbortSignal.timeout(150)))).toEqual([]);
    expect(await collect(processes.tail(newFile(), AbortSignal.abort()))).toEqual([]);
  });

  test('a file that comes late is read from its first byte', async () => {
    const path = newFile();
    const lines = collect(processes.tail(path, AbortSignal.timeout(400)));
    await clock.sleep(120);
    writeFileSync(path, 'first\n');
    expect(texts(await lines)).toEqual(['first']);
  });

  test('something that writes for ever does not keep it from ending', async () => {
    const path = newFile();
    writeFileSync(path, 'x\n'.repeat(1000));
    const writer = setInterval(() => appendFileSync(path, 'x\n'.repeat(50_000)), 1);
    try {
      const lines = await collect(processes.tail(path, AbortSignal.timeout(100)));
      expect(lines.length).toBeGreaterThan(999);
    } finally {
      clearInterval(writer);
    }
  });

  test('takes no more than it is asked for', async () => {
    const path = newFile();
    writeFileSync(path, 'x\n'.repeat(1_000_000));
    const tail = processes.tail(path, never())[Symbol.asyncIterator]();
    expect((await tail.next()).value).toMatchObject({ text: 'x', offset: 2 });
    const before = process.memoryUsage.rss();
    await clock.sleep(200);
    expect(process.memoryUsage.rss() - before).toBeLessThan(20 * 1024 * 1024);
    await tail.return?.();
  });

  test('goes on at the start of a file that was emptied', async () => {
    const path = newFile();
    writeFileSync(path, 'one\ntwo\n');
    const lines = collect(processes.tail(path, AbortSignal.timeout(600)));
    await clock.sleep(150);
    truncateSync(path);
    appendFileSync(path, 'new\n');
    expect(texts(await lines)).toEqual(['one', 'two', 'new']);
  });
});

describe('what is read of a file whose process has ended', () => {
  const afterEnd = { next: { lines: 3, bytes: 1000, ms: 60_000 }, last: { lines: 2, bytes: 100 } };
  const read = async (content: string, more = {}): Promise<string[]> => {
    const path = newFile();
    writeFileSync(path, content);
    const lines = await collect(tailFile(path, AbortSignal.abort(), clock, { ...afterEnd, ...more }));
    return lines.map((line) => (line.type === 'gap' ? `gap to ${line.offset}` : line.text));
  };
  const numbered = (count: number, width = 2): string =>
    Array.from({ length: count }, (_, line) => `${String(line + 1).padStart(width, '0')}\n`).join('');
  // A chunk is read whole, and its lines with it.
  const many = 100_000;

  test.each<[string, string, string[]]>([
    ['nothing', '', []],
    ['a few lines', 'a\nb\nc', ['a', 'b', 'c']],
    ['a line that is longer than the last bytes', `${'x'.repeat(500)}\nend`, ['x'.repeat(500), 'end']],
  ])('%s: all of it', async (_, content, expected) => {
    expect(await read(content)).toEqual(expected);
  });

  test('of many lines the first and the last, each whole', async () => {
    const lines = await read(numbered(many, 6));
    const gap = lines.findIndex((line) => line.startsWith('gap'));
    expect(lines.slice(0, gap)).toEqual(lines.slice(0, gap).map((_, line) => String(line + 1).padStart(6, '0')));
    expect(gap).toBeLessThan(10_000);
    expect(lines.slice(gap)).toEqual([`gap to ${7 * (many - 2)}`, '099999', '100000']);
  });

  test('of a line without end nothing, and what follows it', async () => {
    const lines = await read(`first\n${'x'.repeat(200_000)}\nend`);
    expect(lines).toEqual(['first', 'gap to 200007', 'end']);
  });

  test('a slow reader gets to the last lines in time', async () => {
    const path = newFile();
    writeFileSync(path, numbered(many, 6));
    const tail = tailFile(path, AbortSignal.abort(), clock, {
      next: { lines: many, bytes: 10 * many, ms: 50 },
      last: { lines: 1, bytes: 100 },
    });
    const found: OutputLine[] = [];
    for await (const line of tail) {
      found.push(line);
      if (found.length < 10) await clock.sleep(10);
    }
    expect(found.length).toBeLessThan(many / 2);
    expect(found.slice(-2)).toMatchObject([{ type: 'gap' }, { text: String(many) }]);
  });

  test('the last lines are few where they are long', async () => {
    const lines = await read(numbered(many, 80));
    expect(lines.slice(-2)).toEqual([`gap to ${81 * (many - 1)}`, String(many).padStart(80, '0')]);
  });

  test('a hundred million lines keep nobody waiting, and timers run meanwhile', ALL, async () => {
    const path = newFile();
    writeFileSync(path, '{"type":"first"}\n');
    for (let block = 0; block < 20; block += 1) appendFileSync(path, 'y\n'.repeat(5_000_000));
    appendFileSync(path, '{"type":"last"}\n');
    let before = performance.now();
    let longest = 0;
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - before);
      before = performance.now();
    }, 1);
    const from = performance.now();
    let first: OutputLine | undefined;
    let last: OutputLine | undefined;
    for await (const line of processes.tail(path, AbortSignal.abort())) {
      first ??= line;
      last = line;
    }
    clearInterval(timer);
    truncateSync(path);
    expect([first, last]).toMatchObject([{ text: '{"type":"first"}' }, { text: '{"type":"last"}' }]);
    expect(performance.now() - from).toBeLessThan(allowedMs(2000));
    expect(longest).toBeLessThan(allowedMs(100));
  });
});

describe('where the last lines begin', () => {
  property.prop([fc.string({ unit: fc.constantFrom('\n', 'a', 'b'), maxLength: 40 }), fc.nat(8), fc.nat(45)])(
    'is where the text ends in so many of them',
    async (text, lines, bytes) => {
      const path = newFile();
      writeFileSync(path, text);
      const file = await open(path);
      const start = await startOfLastLines(file, text.length, { lines: lines + 1, bytes });
      await file.close();
      const begins = [0, ...[...text.matchAll(/\n/g)].map((match) => match.index + 1)].filter(
        // That a line begins with the first of the bytes nobody can see in them, unless it is the file's first.
        (at) => at < text.length && (at === 0 ? bytes >= text.length : at > text.length - bytes),
      );
      expect(start).toBe(begins.slice(-(lines + 1))[0] ?? text.length);
    },
  );
});

interface Measured {
  readonly ending: TurnEnding;
  readonly lines: OutputLine[];
  readonly count: number;
  readonly growth: number;
  readonly milliseconds: number;
  readonly survivors: number[];
}

/** In an engine process of its own, whose memory is measured. */
async function tailInEngine(spawn: object): Promise<Measured> {
  const script = fileURLToPath(new URL('./tailing-engine.ts', import.meta.url));
  const engine = spawnProcess(process.execPath, [...RUN_TYPESCRIPT, script, JSON.stringify(spawn)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  for await (const chunk of engine.stdout) chunks.push(chunk as Buffer);
  const measured = JSON.parse(Buffer.concat(chunks).toString()) as Measured;
  const growth = `${(measured.growth / 1024 / 1024).toFixed(1)} MiB`;
  console.log(`tailed ${measured.count} lines in ${measured.milliseconds.toFixed(0)} ms, memory grew by ${growth}`);
  return measured;
}

describe('the memory of an engine that tails', { timeout: 300_000 }, () => {
  test('a GiB without a newline, with bytes that are no UTF-8, and half a line', ALL, async () => {
    const spawn = bench.spawnOf('floods', [String(GIB)], { maxOutputBytes: 2 * GIB });
    const measured = await tailInEngine(spawn);
    expect(measured.ending).toEqual({ type: 'exited', code: 0, signal: null });
    // All of it where the reader kept up with the writer.
    expect(measured.lines.at(-1)).toMatchObject({ type: 'rest', text: 'half a line', offset: GIB + 12 });
    expect(measured.lines).toHaveLength(2);
    expect(['cut', 'gap']).toContain(measured.lines[0]?.type);
    expect(measured.growth).toBeLessThan(50 * 1024 * 1024);
    truncateSync(join(spawn.directory, 'stdout'));
  });

  test('a million lines, one of 8 MiB, one of 50 MB', ALL, async () => {
    const write = (bytes: number, letter: string): string => `head -c ${bytes} /dev/zero | tr '\\0' ${letter}`;
    const script = `${write(30_000_000, 'a')} | fold -w 29; echo; ${write(8_388_607, 'b')}; echo; ${write(50_000_000, 'c')}; echo; sleep 12`;
    const spawn = bench.spawnOf('', [], { command: '/bin/sh', args: ['-c', script] });
    const measured = await tailInEngine(spawn);
    expect(measured.ending).toMatchObject({ type: 'exited', code: 0 });
    expect(measured.count).toBeGreaterThan(1_000_000);
    // Read while the program lives: of one that has ended not all would be.
    expect(measured.lines.filter((line) => line.type !== 'line')).toMatchObject([{ type: 'cut', bytes: 50_000_000 }]);
    expect(measured.growth).toBeLessThan(50 * 1024 * 1024);
    truncateSync(join(spawn.directory, 'stdout'));
  });

  test('a flood is ended by the wrapper at its limit', ALL, async () => {
    const spawn = bench.spawnOf('floods', ['forever'], { maxOutputBytes: 16 * 1024 * 1024 });
    const measured = await tailInEngine(spawn);
    expect(measured.ending).toEqual({ type: 'exited', code: 143, signal: 'SIGTERM', endedBy: 'flood' });
    expect(measured.survivors).toEqual([]);
    expect(measured.growth).toBeLessThan(50 * 1024 * 1024);
    expect(statSync(join(spawn.directory, 'stdout')).size).toBeLessThan(8 * GIB);
    truncateSync(join(spawn.directory, 'stdout'));
  });
});
