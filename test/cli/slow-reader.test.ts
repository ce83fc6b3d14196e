import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { definition, RecordedRun } from '../view/report/support.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { roomForTest } from './room.ts';
import { newStateOf } from '../support/state.ts';

/** More than a pipe holds, several times over. */
const EVENTS = 400;
const BYTES = 1_000;

test('a command prints all of it to a reader that begins late', async () => {
  const room = roomForTest();
  const run = new RecordedRun(definition(), newStateOf(room.repository)).allocate();
  for (let index = 0; index < EVENTS; index += 1) run.ledger.append(run.id, 'noted', { words: 'a'.repeat(BYTES) });
  run.close();
  const env = { PATH: process.env['PATH'], HOME: room.root, XDG_STATE_HOME: join(room.root, 'state') };
  const child = spawn(process.execPath, [CLI_ENTRY, 'log', '--json'], { cwd: room.repository, env });
  // It has printed what the pipe takes by then; if not, the test proves less.
  await sleep(3_000);
  const lines = (await text(child.stdout)).trim().split('\n');
  expect(lines.filter((line) => line.includes('"noted"'))).toHaveLength(EVENTS);
});
