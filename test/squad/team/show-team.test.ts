import { rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { KINDS } from '../../../src/model/sprint/kinds.ts';
import { followTeamOf } from '../../../src/squad/team/team-of-run.ts';
import { openLedger } from '../../../src/substrate/ledger/index.ts';
import type { Ledger } from '../../../src/substrate/ports/ledger.ts';
import { plainJson } from '../../../src/text/json.ts';
import { recordsAfter } from '../../support/team-records.ts';
import { temporaryFolder } from '../../substrate/git/bench.ts';

const clock = { now: () => 1 };

it('follows what is written of a team by another process, and reads nothing for a run of none', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const writer = openLedger(folder, { clock });
  const record = (history: Parameters<typeof recordsAfter>[0]): void => {
    for (const [kind, all] of recordsAfter(history)) {
      for (const [id, value] of all) writer.writeRecord({ kind, id, value: plainJson(value) });
    }
  };
  record({ sprints: 1, active: true });
  const reader = openLedger(folder, { clock, readOnly: true });
  const shown = await followTeamOf(reader, { run: 'run-0', playbook: 'sprint' });
  expect(shown?.()).toMatchObject({ sprint: { state: 'running' }, backlog: { counts: { selected: 1 } } });
  const before = shown?.();
  expect(shown?.()).toBe(before);
  record({ sprints: 1 });
  expect(shown?.()).toMatchObject({ sprint: { state: 'completed' }, backlog: { counts: { done: 2, blocked: 1 } } });
  writer.writeRecord({ kind: KINDS.stop, id: 'x', value: { at: 1, by: 'kim', now: false } });
  expect(shown?.()).toMatchObject({ sprint: { state: 'completed' } });
  reader.close();
  writer.close();
  const untouched = new Proxy({} as Ledger, {
    get: () => {
      throw new Error('the ledger was read');
    },
  });
  expect(await followTeamOf(untouched, { run: 'run-0', playbook: 'delivery' })).toBeUndefined();
});
