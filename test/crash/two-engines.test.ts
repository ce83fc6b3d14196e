// @module-tag all
import { cpSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { lockWorkspace } from '../../src/substrate/ledger/index.ts';
import { openEngineRoom } from '../support/engine.ts';
import { storedLedger } from '../support/stored-ledger.ts';
import { newStateOf } from '../support/state.ts';

it('T18 the second engine of a folder exits 75, naming pid and host; a stale name with a reused pid blocks nobody', async () => {
  const room = openEngineRoom();
  onTestFinished(() => room.close());
  const directory = newStateOf(room.repository);
  cpSync(dirname(storedLedger().path), directory, { recursive: true });
  const holder = { pid: process.pid, host: hostname(), since: Date.now() };
  const lock = lockWorkspace(directory, holder);
  const refused = await room.run(['resume', 'fan-out', '--yes']);
  expect([refused.code, refused.stdout], refused.stderr).toEqual([75, '']);
  expect(refused.stderr).toContain(`(PID ${process.pid} on ${hostname()}`);
  expect(refused.stderr).toMatch(/\nNext: [^\n]+\n$/);
  lock.release();
  // This very process lives, and holds nothing.
  writeFileSync(join(directory, 'lock.json'), JSON.stringify(holder));
  const next = await room.run(['resume', 'nobody']);
  expect([next.code, next.stderr]).toEqual([2, expect.stringContaining('no run is called nobody')]);
});
