// @module-tag all
import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { openRunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';
import { ALL } from '../support/lane.ts';
import { newStateOf, stateOf } from '../support/state.ts';

const SCRIPT = [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL];

describe.concurrent('the ledger of a run that has ended', { timeout: 300_000 }, () => {
  it('is backed up, whole', async (test) => {
    const bench = openRunBench({ script: SCRIPT });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(0);
    const folder = join(stateOf(bench.repository), 'backups');
    const [name = '', ...more] = readdirSync(folder);
    expect([name, more]).toEqual([expect.stringMatching(/^run-\d{8}T\d{9}Z\.db$/), []]);
    const [copy, ledger] = [join(folder, name), join(stateOf(bench.repository), 'squad.db')].map((path) =>
      checkLedger(path),
    );
    expect(copy).toMatchObject({ ok: true, lastSeq: ledger?.lastSeq });
  });

  it('needs no backup to be done: what is in its way is a note', ALL, async (test) => {
    const bench = openRunBench({ script: SCRIPT });
    test.onTestFinished(() => bench.end());
    // Nothing can be made there, and a plain file in the way would be set aside.
    symlinkSync('/proc/self', join(newStateOf(bench.repository), 'backups'));
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(0);
    const notes = ended.lines.filter(({ type }) => type === 'warning').map(({ text }) => text);
    expect(notes).toEqual([expect.stringMatching(/^the ledger was not backed up: /)]);
    expect(ended.lines.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'done' });
  });
});
