import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, expect, it } from 'vitest';
import { damageFile } from '../support/damage.ts';
import { createRandom } from '../support/random.ts';
import { expectUnharmed, openRunRoom } from '../support/run-room.ts';
import { FAN_OUT } from '../support/run-scenarios.ts';

const KILLED = { SQUAD_FAILPOINTS: 'graph.applied:3=kill' };

it('T6 a damaged checkpoints.db is set aside with a notice, and the run goes on from its ledger', async () => {
  const room = openRunRoom(FAN_OUT);
  onTestFinished(() => room.close());
  const path = join(room.repository, '.squad', 'checkpoints.db');
  expect((await room.begin(KILLED).finished).signal).toBe('SIGKILL');
  writeFileSync(path, 'no database at all');
  const last = await room.resume().finished;
  expect(last.code, last.stdout + last.stderr).toBe(0);
  const notices = last.lines.filter(({ type, text }) => type === 'warning' && String(text).includes('set aside'));
  expect(notices).toHaveLength(1);
  expect(readFileSync(`${path}.damaged`, 'utf8')).toBe('no database at all');
  expectUnharmed(room);
}, 60_000);

it('T6 a damaged or missing squad.db stops every command that would go on, with the file and the next command', async () => {
  const room = openRunRoom(FAN_OUT);
  onTestFinished(() => room.close());
  const path = join(room.repository, '.squad', 'squad.db');
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
      expect([refused.code, refused.stdout], refused.stderr).toEqual([65, '']);
      expect(refused.stderr).toMatch(/^squad: \S+\/squad\.db: [^\n]+\nNext: [^\n]*`squad db check`[^\n]*\n$/);
    }
    writeFileSync(path, whole);
  }
}, 60_000);
