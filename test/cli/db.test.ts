// @module-tag all
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import { startProgram } from '../substrate/ledger/programs.ts';
import { openEngineRoom, type EngineRoom } from '../support/engine.ts';
import { storedLedger } from '../support/stored-ledger.ts';
import { ALL } from '../support/lane.ts';
import { newStateOf } from '../support/state.ts';

interface Room extends EngineRoom {
  readonly directory: string;
  readonly database: string;
}

/** A repository with the ledger of a real run. */
function openRoom(): Room {
  const room = openEngineRoom();
  onTestFinished(() => room.close());
  const directory = newStateOf(room.repository);
  const database = join(directory, 'squad.db');
  copyFileSync(storedLedger().path, database);
  openLedger(directory, { clock: { now: () => 5 }, ballastBytes: 4096 }).close();
  return { ...room, directory, database };
}

/** One bit of a letter, which SQLite takes for another letter; wherever it stands, since a page may hold old bytes too. */
function flipInText(path: string, text: string): void {
  const bytes = readFileSync(path);
  let flipped = 0;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    flipped += 1;
  }
  expect(flipped).toBeGreaterThan(0);
  writeFileSync(path, bytes);
}

describe('db backup', () => {
  it('copies a ledger that is written meanwhile, as it was at one instant, and says how to put it back', async () => {
    const { directory, database, run, repository } = openRoom();
    const writer = startProgram('writer', [directory, '60000', '2']);
    await writer.line(1);
    const first = await run(['db', 'backup']);
    const second = await run(['db', 'backup', 'mine.db', '--json']);
    await writer.kill();
    expect([first.code, second.code], first.stderr + second.stderr).toEqual([0, 0]);
    const [name = ''] = readdirSync(join(directory, 'backups'));
    const copies = [join(directory, 'backups', name), join(repository, 'mine.db')];
    expect(copies.map((path) => checkLedger(path)).map(({ ok, problems }) => [ok, problems])).toEqual([
      [true, []],
      [true, []],
    ]);
    expect(copies.map((path) => statSync(path).mode & 0o077)).toEqual([0, 0]);
    expect(second.lines).toMatchObject([{ type: 'db-backup', path: copies[1], bytes: statSync(copies[1] ?? '').size }]);
    expect(first.stdout).toContain(`cp ${join(directory, 'backups', name)} ${database}.restored`);
    expect(checkLedger(database).backups).toEqual([`backups/${name}`]);
    expect(readdirSync(repository).filter((file) => file.endsWith('.new'))).toEqual([]);
  });

  it('never takes a row that is written meanwhile for damage', ALL, async () => {
    const { directory, database } = openRoom();
    const writer = startProgram('writer', [directory, '60000', '2']);
    await writer.line(1);
    const checks = Array.from({ length: 40 }, () => checkLedger(database));
    await writer.kill();
    expect(checks.flatMap(({ problems }) => problems)).toEqual([]);
  });

  it('put back as it says, is the ledger again', async () => {
    const { directory, database, run } = openRoom();
    const { lastSeq } = checkLedger(database);
    const backup = await run(['db', 'backup', '--json']);
    const ledger = openLedger(directory, { clock: { now: () => 5 } });
    ledger.append('workspace', 'noted', 'later');
    ledger.close();
    const [{ restore = [] } = {}] = backup.lines as { restore?: string[] }[];
    const shell = execFileSync('/bin/sh', ['-e'], {
      cwd: join(directory, '..'),
      input: restore.slice(0, -1).join('\n'),
      encoding: 'utf8',
    });
    expect(shell).toBe('');
    expect(checkLedger(database)).toMatchObject({ ok: true, lastSeq });
    expect((await run(['db', 'check'])).code).toBe(0);
  });

  it('never overwrites, and never copies damage', async () => {
    const { database, run, repository } = openRoom();
    await run(['db', 'backup', 'mine.db']);
    const bytes = readFileSync(join(repository, 'mine.db'));
    const again = await run(['db', 'backup', 'mine.db']);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('exists. squad never overwrites a file')]);
    expect(readFileSync(join(repository, 'mine.db'))).toEqual(bytes);
    flipInText(database, 'Fan out');
    const damaged = await run(['db', 'backup', 'other.db']);
    expect([damaged.code, damaged.stderr]).toEqual([65, expect.stringMatching(/was not copied[^]*squad db check/)]);
    expect(existsSync(join(repository, 'other.db'))).toBe(false);
  });
});

describe('db export', () => {
  it('gives everything in a fixed order, and the same lines again', async () => {
    const { run, repository } = openRoom();
    const [shown, written] = [await run(['db', 'export']), await run(['db', 'export', 'all.jsonl', '--json'])];
    expect(shown.code, shown.stderr).toBe(0);
    expect(readFileSync(join(repository, 'all.jsonl'), 'utf8')).toBe(shown.stdout);
    expect(written.lines).toEqual([
      { type: 'db-export', path: join(repository, 'all.jsonl'), rows: shown.lines.length },
    ]);
    const order = [...new Set(shown.lines.map(({ row }) => row))];
    expect(order).toEqual(['run', 'lease', 'event', 'application', 'attempt', 'settlement', 'usage', 'observation']);
    const seqs = shown.lines.filter(({ row }) => row === 'event').map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    const plan = shown.lines.find(({ row, taskId }) => row === 'attempt' && taskId === 'plan');
    expect(plan).toMatchObject({ status: 'settled', request: { prompt: expect.any(String) as string } });
    expect((await run(['db', 'export', 'all.jsonl'])).code).toBe(2);
  });

  it('gives what belongs to one run', ALL, async () => {
    const { directory, run } = openRoom();
    const ledger = openLedger(directory, { clock: { now: () => 5 } });
    ledger.createRun({ id: 'other', name: 'other' });
    ledger.append('workspace', 'noted', null);
    ledger.close();
    const other = await run(['db', 'export', '--run', 'other']);
    expect(other.lines.map(({ row, type, id }) => [row, type ?? id])).toEqual([
      ['run', 'other'],
      ['event', 'run-created'],
    ]);
    const unknown = await run(['db', 'export', '--run', 'nobody']);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('no run is called nobody')]);
  });

  it('says that nothing was ever here', async () => {
    const { directory, run } = openRoom();
    rmSync(directory, { recursive: true });
    for (const command of ['export', 'backup']) {
      const none = await run(['db', command]);
      expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('there is no run here yet')]);
    }
    expect(existsSync(directory)).toBe(false);
  });
});
