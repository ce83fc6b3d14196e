import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createSystemClock } from '../../../../src/substrate/system/clock/system-clock.ts';
import { identify, identifyChild } from '../../../../src/substrate/system/process/process-table.ts';
import { allowedMs } from '../../../support/busy-machine.ts';

const MARKER = 'late-marker';
const clock = createSystemClock();

test('a child whose environment cannot be read yet is waited for', async () => {
  // The program that is started first stands for the moment in which there is no environment.
  const child = spawn('/bin/sh', ['-c', `read -r _; exec env SQUAD_TURN_ID=${MARKER} sleep 30`], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  try {
    expect(identify(pid, MARKER)).toBeUndefined();
    const found = identifyChild(pid, MARKER, clock);
    child.stdin.end('\n');
    expect(await found).toMatchObject({ pid, marker: MARKER });
  } finally {
    child.kill('SIGKILL');
  }
});

test('a child that is gone is not waited for', async () => {
  const child = spawn('/bin/sh', ['-c', 'exit 0'], { stdio: 'ignore' });
  await once(child, 'exit');
  const start = clock.monotonic();
  expect(await identifyChild(child.pid ?? 0, MARKER, clock)).toBeUndefined();
  expect(clock.monotonic() - start).toBeLessThan(allowedMs(1000));
});
