import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { TurnReport } from '../../../src/model/turn-event.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../../src/model/turn-request.ts';
import { createTranscriptReader } from '../../../src/runtimes/shared/output-reader.ts';
import { createSystemClock } from '../../../src/substrate/system/clock/system-clock.ts';
import { createSystemProcesses } from '../../../src/substrate/system/process/system-processes.ts';

const REQUEST: TurnRequest = {
  turnId: 'turn-1',
  workspace: { path: '/w/tree' },
  prompt: 'do it',
  instructions: 'be good',
  access: { level: 'edit' },
  mcp: [],
  limits: DEFAULT_TURN_LIMITS,
};

/** Tells each text with how many came before it, and cannot read “broken”. */
const COUNTING = {
  begin: () => 0,
  translate: (count: number, line: { type: string; value?: unknown }) => {
    if (line.value === 'broken') throw new Error('a bug of the translator');
    const report: TurnReport = { type: 'text', text: `${count}: ${JSON.stringify(line.value)}`, delta: false };
    return { state: count + 1, reports: [report] };
  },
};

it('follows the output of a turn that somebody else drives, from before its folder is there to its end', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-transcript-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const directory = join(root, 'turn');
  const ended = new AbortController();
  const read = createTranscriptReader(COUNTING, createSystemProcesses({ clock: createSystemClock() }));
  const seen: string[] = [];
  const say = (text: string): void => appendFileSync(join(directory, 'stdout'), text);
  const following = (async () => {
    for await (const report of read(REQUEST, directory, ended.signal)) {
      seen.push('text' in report ? report.text : report.type);
      if (seen.length === 2) say('"broken"\n"after it"\n"the last, without an end"');
      if (seen.length === 4) ended.abort();
    }
  })();
  mkdirSync(directory);
  say('"one"\n"tw');
  say('o"\n');
  await following;
  expect(seen).toEqual([
    '0: "one"',
    '1: "two"',
    'a line of output could not be read: a bug of the translator',
    '2: "after it"',
    '3: "the last, without an end"',
  ]);
});
