import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ledgerPath, lockWorkspace, openLedger } from '../../../src/substrate/ledger/index.ts';
import { startProgram } from './programs.ts';
import { temporaryFolder, violations } from './support.ts';

const ROUNDS = 40;
const clock = { now: () => Date.now() };

interface Said {
  held: boolean;
  epoch?: number;
  code?: string;
  message?: string;
  ms: number;
}

test('over 40 killed holders under garbage collection there are never two, and each is followed at once', async () => {
  const directory = join(temporaryFolder(), '.squad');
  const ledger = openLedger(directory, { clock, ballastBytes: 4096 });
  ledger.createRun({ id: 'r', name: 'r' });
  ledger.close();
  const refusals: number[] = [];
  const takeovers: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const holder = startProgram('locker', [directory, 'hold'], ['--expose-gc']);
    const taken = (await holder.line(1)) as Said;
    expect(taken).toMatchObject({ held: true, epoch: round });
    takeovers.push(taken.ms);
    // This process asks too: it is another one. Every few rounds a fresh one does.
    const start = performance.now();
    const mine = askHere(directory);
    refusals.push(performance.now() - start);
    expect(mine).toContain(`process ${holder.child.pid} on ${hostname()}`);
    if (round % 8 === 0) {
      const contender = startProgram('locker', [directory, 'leave']);
      expect(await contender.line(1)).toMatchObject({ held: false, code: 'workspace-busy' });
      await contender.ended();
    }
    await holder.kill();
  }
  console.log(
    `refused within ${Math.max(...refusals).toFixed(0)} ms; taken over within ${Math.max(...takeovers).toFixed(0)} ms`,
  );
  expect(Math.max(...refusals)).toBeLessThan(1000);
  expect(Math.max(...takeovers)).toBeLessThan(1000);
  expect(violations(ledgerPath(directory))).toEqual([]);
}, 90_000);

function askHere(directory: string): string {
  try {
    lockWorkspace(directory, { pid: process.pid, host: 'here', since: 0 }).release();
  } catch (error) {
    return (error as Error).message;
  }
  return 'two holders';
}
