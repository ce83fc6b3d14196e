import { spawn as spawnProcess } from 'node:child_process';
import { appendFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { OutputLine, TurnEnding } from '../../../src/substrate/ports/processes.ts';
import { RUN_TYPESCRIPT, clock, collect, createTurnBench, never, processes } from './turn-bench.ts';

const bench = createTurnBench();
afterAll(() => bench.close());

const GIB = 1024 ** 3;
const texts = (lines: readonly OutputLine[]): string[] => lines.map((line) => line.text);
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

describe('the memory of an engine that tails', { timeout: 60_000 }, () => {
  test('a GiB without a newline, with bytes that are no UTF-8, and half a line', async () => {
    const spawn = bench.spawnOf('floods', [String(GIB)], { maxOutputBytes: 2 * GIB });
    const measured = await tailInEngine(spawn);
    expect(measured.ending).toEqual({ type: 'exited', code: 0, signal: null });
    expect(measured.lines).toMatchObject([
      { type: 'cut', bytes: GIB },
      { type: 'rest', text: 'half a line', offset: GIB + 12 },
    ]);
    expect(measured.growth).toBeLessThan(50 * 1024 * 1024);
    truncateSync(join(spawn.directory, 'stdout'));
  });

  test('a million lines, one of 8 MiB, one of 50 MB', async () => {
    const write = (bytes: number, letter: string): string => `head -c ${bytes} /dev/zero | tr '\\0' ${letter}`;
    const script = `${write(30_000_000, 'a')} | fold -w 29; echo; ${write(8_388_607, 'b')}; echo; ${write(50_000_000, 'c')}; echo`;
    const spawn = bench.spawnOf('', [], { command: '/bin/sh', args: ['-c', script] });
    const measured = await tailInEngine(spawn);
    expect(measured.ending).toMatchObject({ type: 'exited', code: 0 });
    expect(measured.count).toBeGreaterThan(1_000_000);
    expect(measured.lines.filter((line) => line.type !== 'line')).toMatchObject([{ type: 'cut', bytes: 50_000_000 }]);
    expect(measured.growth).toBeLessThan(50 * 1024 * 1024);
    truncateSync(join(spawn.directory, 'stdout'));
  });

  test('a flood is ended by the wrapper at its limit', async () => {
    const spawn = bench.spawnOf('floods', ['forever'], { maxOutputBytes: 16 * 1024 * 1024 });
    const measured = await tailInEngine(spawn);
    expect(measured.ending).toEqual({ type: 'exited', code: 143, signal: 'SIGTERM', endedBy: 'flood' });
    expect(measured.survivors).toEqual([]);
    expect(measured.growth).toBeLessThan(50 * 1024 * 1024);
    expect(statSync(join(spawn.directory, 'stdout')).size).toBeLessThan(8 * GIB);
    truncateSync(join(spawn.directory, 'stdout'));
  });
});
