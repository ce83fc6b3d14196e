// Tails the turn of argv[2] (JSON: a TurnSpawn) to its end and prints what it saw and by how much its memory grew.
import { join } from 'node:path';
import { createSystemClock } from '../../../../src/substrate/system/clock/system-clock.ts';
import type { TurnSpawn } from '../../../../src/substrate/ports/processes.ts';
import { seeProcessesBy } from '../../../../src/substrate/system/process/process-table.ts';
import { createSystemProcesses } from '../../../../src/substrate/system/process/system-processes.ts';

if (process.env['SQUAD_PROCESSES'] === 'ps') seeProcessesBy('ps');
const processes = createSystemProcesses({ clock: createSystemClock() });
const spawn = JSON.parse(process.argv[2] ?? '') as TurnSpawn;
const held = await processes.spawnTurn(spawn);
const before = process.memoryUsage.rss();
let most = before;
const sampler = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
const startedAt = performance.now();
const ended = new AbortController();
await held.go();
const ending = processes
  .waitForEnding(held.identity, spawn.directory, new AbortController().signal)
  .finally(() => ended.abort());
const lines: unknown[] = [];
let count = 0;
for await (const line of processes.tail(join(spawn.directory, 'stdout'), ended.signal)) {
  count += 1;
  if (line.type === 'gap') lines.push(line);
  else if (count <= 5 || line.type !== 'line') lines.push({ ...line, text: line.text.slice(0, 20) });
}
const milliseconds = performance.now() - startedAt;
clearInterval(sampler);
const growth = Math.max(most, process.memoryUsage.rss()) - before;
const survivors = await processes.endTurn(held.identity, spawn.directory, []);
process.stdout.write(JSON.stringify({ ending: await ending, lines, count, growth, milliseconds, survivors }));
