// @module-tag all
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, expect, it } from 'vitest';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import type { Ledger } from '../../src/substrate/ports/ledger.ts';
import { damageFile } from '../support/damage.ts';
import { killAll, markedPids } from '../support/marked-pids.ts';
import { createRandom } from '../support/random.ts';
import { expectUnharmed, openRunRoom } from '../support/run-room.ts';
import { FAN_OUT, fanOut } from '../support/run-scenarios.ts';
import { ALL } from '../support/lane.ts';
import { newStateOf } from '../support/state.ts';

const KILLED = { SQUAD_FAILPOINTS: 'graph.applied:3=kill' };

it('T6 a damaged checkpoints.db is set aside with a notice, and the run goes on from its ledger', async () => {
  const room = openRunRoom(FAN_OUT);
  onTestFinished(() => room.close());
  const path = join(newStateOf(room.repository), 'checkpoints.db');
  expect((await room.begin(KILLED).finished).signal).toBe('SIGKILL');
  writeFileSync(path, 'no database at all');
  const last = await room.resume().finished;
  expect(last.code, last.stdout + last.stderr).toBe(0);
  const notices = last.lines.filter(({ type, text }) => type === 'warning' && String(text).includes('set it aside'));
  expect(notices).toHaveLength(1);
  expect(readFileSync(`${path}.damaged`, 'utf8')).toBe('no database at all');
  expectUnharmed(room);
});

it(
  'T6 a damaged or missing squad.db stops every command that would go on, with the file and the next command',
  ALL,
  async () => {
    const room = openRunRoom(FAN_OUT);
    onTestFinished(() => room.close());
    const path = join(newStateOf(room.repository), 'squad.db');
    expect((await room.begin({ SQUAD_FAILPOINTS: 'operation.noted:1=kill' }).finished).signal).toBe('SIGKILL');
    // A reader that is the last to leave brings the log into the file.
    expect((await room.run(['db', 'backup'])).code).toBe(0);
    const harms: (() => unknown)[] = [
      () => damageFile(path, 'a zeroed page', createRandom(1)),
      () => damageFile(path, 'nothing', createRandom(1)),
      () => rmSync(path),
    ];
    for (const harm of harms) {
      const whole = readFileSync(path);
      for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
      harm();
      // A new run is refused as well: nothing is ever begun on top of damage.
      const engines = harm === harms[0] ? [room.resume(), room.begin()] : [room.resume()];
      for (const { finished } of engines) {
        const refused = await finished;
        expect([refused.code, refused.lines], refused.stderr).toEqual([
          65,
          [expect.objectContaining({ type: 'error', exitCode: 65 })],
        ]);
        expect(refused.stderr).toMatch(/^squad: \S+\/squad\.db: [^\n]+\nNext: [^\n]*`squad db check`[^\n]*\n$/);
      }
      writeFileSync(path, whole);
    }
  },
);

it('T6 a squad.db that comes to harm under a living engine ends the run with exit 65, the file and the next command', async () => {
  const room = openRunRoom(fanOut(3_000));
  onTestFinished(() => room.close());
  const directory = newStateOf(room.repository);
  // The engine leaves them to the next one; here none will come.
  onTestFinished(() => {
    const turns = readdirSync(join(directory, 'turns'));
    killAll(turns.flatMap(markedPids));
  });
  const engine = room.begin();
  await engine.line(({ type, task }) => type === 'attempt-taken' && task === 'right');
  // Knows its pages by heart, so that it can still write: then the engine has to read its own again.
  const other = openLedger(directory, { clock: { now: () => Date.now() } });
  onTestFinished(() => other.close());
  poke(other);
  for (const suffix of ['', '-wal']) damageAllPages(join(directory, `squad.db${suffix}`));
  try {
    poke(other);
  } catch (error) {
    // A checkpoint in between makes it read the damage itself; the engine will.
    expect(error).toMatchObject({ code: 'database-corrupt' });
  }
  const end = await engine.finished;
  expect(end.code, end.stdout + end.stderr).toBe(65);
  expect(end.stderr).toMatch(/^squad: \S+\/squad\.db: [^\n]+\nNext: [^\n]*`squad db check`[^\n]*\n$/);
});

function poke(ledger: Ledger): void {
  ledger.append('workspace', 'poke', null);
}

/**
 * All but what a file begins with: its own header, and that of the first page in a log. In place: a file that is empty for a
 * moment is another fault, which a living engine may meet first.
 */
function damageAllPages(path: string): void {
  const bytes = readFileSync(path);
  const size = 4096 + (path.endsWith('-wal') ? 24 : 0);
  for (let at = path.endsWith('-wal') ? 56 : 4096; at < bytes.length; at += size) bytes.fill(0xa5, at, at + 4096);
  const file = openSync(path, 'r+');
  writeSync(file, bytes);
  closeSync(file);
}
