// @module-tag all
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { SPREAD, spread } from '../support/lane.ts';
import { isRunTrusted } from '../../src/squad/preflight/trust-store.ts';
import { consentContent, consentHash } from '../../src/view/run-consent.ts';
import { stateOf } from '../support/state.ts';
import { openRunBench } from './run-bench.ts';

const SUBMITTER = fileURLToPath(new URL('../fixtures/embedding/submit-many.ts', import.meta.url));

interface Said {
  readonly key: string;
  readonly runId: string;
  readonly name: string;
  readonly known: boolean;
}

it('takes each of many submissions at once, under a name of its own', { ...SPREAD, timeout: 600_000 }, async (test) => {
  const bench = openRunBench({ script: [] });
  test.onTestFinished(() => bench.end());
  const { root, repository } = bench;
  const [processes, each] = [spread(6, 20, 6), spread(8, 250, 8)];
  // Every fifth key is submitted by all of them.
  const keysOf = (one: number): string[] =>
    Array.from({ length: each }, (_, index) => (index % 5 === 0 ? `all-${index}` : `${one}-${index}`));
  const submit = async (one: number): Promise<readonly Said[]> => {
    const env = { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: join(root, 'state') };
    const { stdout } = await promisify(execFile)(process.execPath, [SUBMITTER, ...keysOf(one)], {
      cwd: repository,
      env,
    });
    return JSON.parse(stdout) as readonly Said[];
  };
  const said = (await Promise.all(Array.from({ length: processes }, async (_, one) => submit(one)))).flat();
  const keys = new Set(said.map(({ key }) => key));
  const firsts = said.filter(({ known }) => !known);
  expect([said.length, firsts.length]).toEqual([processes * each, keys.size]);
  expect(new Set(said.map(({ key, runId, name }) => `${key} ${runId} ${name}`)).size).toBe(keys.size);
  expect(new Set(firsts.map(({ name }) => name)).size).toBe(keys.size);
  const { lines } = await bench.run(['queue', '--json']);
  expect(lines).toHaveLength(firsts.length);
  expect(new Set(lines.map(({ name }) => name))).toEqual(new Set(firsts.map(({ name }) => name)));

  // No engine would start one without a consent.
  const directory = stateOf(repository);
  const path = join(directory, 'trust.json');
  const store = { path, place: () => path };
  const ledger = bench.ledger();
  const agreed = firsts.map(async ({ runId }) =>
    isRunTrusted(store, runId, consentHash(consentContent(ledger, runId))),
  );
  expect((await Promise.all(agreed)).filter((is) => !is)).toEqual([]);
  ledger.close();
  expect(existsSync(join(directory, 'queued'))).toBe(true);
});
