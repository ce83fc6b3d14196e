import { expect, test } from 'vitest';
import { createRandom } from '../../support/random.ts';
import { openBench } from './support.ts';

test('the newest event of a stream among some types is the last of all of them, and the states are those of all attempts', () => {
  const { ledger } = openBench();
  const random = createRandom(7);
  const types = ['a', 'b', 'c', 'd'];
  const streams = ['r', 'q', 's'];
  for (const id of ['q', 's']) ledger.createRun({ id, name: id });
  const pick = (all: readonly string[]): string => all[Math.floor(random() * all.length)] ?? '';
  expect(ledger.newest('s', types)).toBeUndefined();
  for (let round = 0; round < 40; round += 1) {
    // The last one stays empty.
    ledger.append(pick(streams.slice(0, 2)), pick(types.slice(0, 3)), { round });
    const [stream, some] = [pick(streams), types.filter(() => random() < 0.5)];
    const last = ledger.events({ stream, types: some }).at(-1);
    expect(ledger.newest(stream, some)).toEqual(last);
  }
  for (const runId of streams) {
    const all = ledger.attempts({ runId }).map(({ id, status }) => ({ id, status }));
    expect(ledger.attemptStates(runId)).toEqual(all);
  }
});
