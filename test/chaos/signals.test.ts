import { expect, it } from 'vitest';
import { NO_TERMINAL, SIGNAL_TRIALS } from '../runs/signal-trials.ts';
import { reportTrials, trialsOf } from '../support/chaos-row.ts';

const EACH = trialsOf({ commit: 1, nightly: 20, release: 20 });

for (const { name, needsTerminal, perform } of SIGNAL_TRIALS) {
  if (needsTerminal === true && NO_TERMINAL !== undefined) it.skip(`T21 ${name} (${NO_TERMINAL})`);
  else it(`T21 ${name}, ${EACH} times`, async () => repeat(name, perform));
}

async function repeat(name: string, perform: () => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (let index = 0; index < EACH; index += 1) {
    await perform().catch((error: unknown) => failures.push(new Error(`trial ${index}`, { cause: error })));
  }
  const bound = 'ends in order, 0 left alive, resumable';
  reportTrials({ fault: `T21 ${name}`, trials: EACH, failures: failures.length, bound });
  if (failures[0] !== undefined) throw failures[0];
  expect(failures).toEqual([]);
}
