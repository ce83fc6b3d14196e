import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runInTerminal } from '../../../../src/substrate/system/process/run-in-terminal.ts';
import { runPager } from '../../../../src/substrate/system/process/run-pager.ts';

const environment = { PATH: process.env['PATH'] };

/** More than a pipe takes at once. */
function* lines(): Generator<string> {
  for (let line = 1; line <= 100_000; line += 1) yield `line ${line}\n`;
}

function room(): string {
  const folder = mkdtempSync(join(tmpdir(), 'squad-pager-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it('a pager gets every line, one that is left early ends the reading, and one that is not there reads none', async () => {
  const file = join(room(), 'seen');
  const shown = (script: string) => runPager(['sh', '-c', script], { ...environment, FILE: file }, lines());
  expect(await shown('tail -1 > "$FILE"')).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe('line 100000\n');
  expect(await shown('head -1 > "$FILE"')).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe('line 1\n');
  let read = 0;
  const counted = (function* () {
    for (const line of lines()) {
      read += 1;
      yield line;
    }
  })();
  expect([await runPager(['no-such-pager'], environment, counted), read]).toEqual([false, 0]);
});

it('a program in the terminal says how it ended, or why it did not start', async () => {
  const run = (...command: string[]) => runInTerminal(command, { kind: 'editor', environment });
  expect(await run('sh', '-c', 'exit 3')).toEqual({ code: 3 });
  expect(await run('sh', '-c', 'kill -9 $$')).toEqual({ code: null });
  expect(await run('no-such-editor')).toEqual({ code: null, problem: expect.stringContaining('ENOENT') });
});
