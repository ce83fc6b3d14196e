import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Host } from '../../../src/engine/machine.ts';
import { allowRun } from '../../../src/squad/pool/allow-list.ts';
import { createRefusals } from '../../../src/squad/pool/refusal.ts';
import type { PoolRun } from '../../../src/substrate/ports/pool.ts';
import type { Json } from '../../../src/text/json.ts';
import { testHost } from '../../support/test-host.ts';

const repository = 'ssh://git.example/a.git';

let root: string;
let host: Host;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'squad-refusal-'));
  mkdirSync(join(root, 'bin'));
  host = testHost(root, { environment: { PATH: join(root, 'bin'), HOME: root }, configHome: join(root, 'config') });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const runWith = (about: Json): PoolRun => ({
  ...{ id: 'r', name: 'greet', repository, base: 'a'.repeat(40), labels: [], priority: 0, submittedBy: 'ann', about },
  ...{ state: 'queued', why: null, epoch: 0, worker: null, isHeld: false, again: null, submittedAt: 0 },
  ...{ storedAt: null, status: null },
});
const about = (more: Readonly<Record<string, Json>>) => ({ title: 'Greet', runtimes: ['codex'], items: [], ...more });

it('leaves a run to others whose agents are not here, and says what is missing', async () => {
  let now = 0;
  const refusalOf = createRefusals(host, { monotonic: () => now });
  const run = runWith(about({ probed: ['codex'] }));
  expect(await refusalOf(run)).toMatch(/no person allowed this machine .*squad worker allow greet/);
  await allowRun(host, { repository, items: [] }, 1);
  expect(await refusalOf(run)).toMatch(/^codex cannot be used here: .*squad doctor/);
  // Its settings say where its program is, or what stands in for it: that is looked at when it begins.
  expect(await refusalOf(runWith(about({ probed: [] })))).toBeUndefined();
  // As an older squad submitted it.
  expect(await refusalOf(runWith(about({})))).toBeUndefined();
  expect(await refusalOf(runWith({ runtimes: 3 }))).toBe('another version of squad submitted it');
  // A person may install it meanwhile: it is looked at again after a while, and not each time.
  now += 61_000;
  expect(await refusalOf(run)).toMatch(/^codex cannot be used here/);
});
