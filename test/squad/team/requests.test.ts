import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkLedger } from '../../../src/cli/check-ledger.ts';
import { createRedactor } from '../../../src/model/redaction/redactor.ts';
import type { BacklogState } from '../../../src/model/sprint/item.ts';
import { KINDS } from '../../../src/model/sprint/kinds.ts';
import { cancelRequest, requestTaker } from '../../../src/squad/team/requests.ts';
import { teamIn } from '../../../src/squad/team/read-team.ts';
import { ledgerPath, openLedger } from '../../../src/substrate/ledger/index.ts';
import { plainJson } from '../../../src/text/json.ts';
import { ALL, NIGHT } from '../../support/lane.ts';

const MANY = fileURLToPath(new URL('../../fixtures/team/request-many.ts', import.meta.url));
const FILE = { id: '0a1b2c3d', name: 'spec.pdf', bytes: 3, sha256: '0a1b2c3d'.repeat(8) };

function room() {
  const directory = mkdtempSync(join(tmpdir(), 'squad-requests-'));
  const ledger = openLedger(directory, { clock: { now: Date.now } });
  onTestFinished(() => {
    ledger.close();
    rmSync(directory, { recursive: true, force: true });
  });
  let now = 1_000;
  const take = requestTaker(ledger, { now: () => (now += 1), redactor: createRedactor(['hunter2hunter2']) });
  const write = (kind: string, id: string, value: unknown): void =>
    void ledger.writeRecord({ kind, id, value: plainJson(value) });
  const ask = (text: string, more: object = {}) => take({ text, by: 'dana', attachments: [], ...more });
  return { directory, ledger, ask, write, team: () => teamIn(ledger) };
}

/** An item of the request that waits for something. */
function blockItem(
  { write }: ReturnType<typeof room>,
  request: string,
  id: string,
  more: Partial<BacklogState> = {},
): void {
  const item = { title: id, kind: 'feature', acceptance: [], priority: 50, version: 1, createdAt: 1, updatedAt: 1 };
  write(KINDS.item, id, { ...item, source: `request:${request}` });
  write(KINDS.itemState, id, { state: 'blocked', blocked_reason: 'no port', at: 2, ...more });
}

describe('a request', () => {
  it('is on record with its files, free of secrets, under a short id', () => {
    const { ask, team } = room();
    const { id, how } = ask('  Log in with hunter2hunter2 \n', { attachments: [FILE] });
    expect([id, how]).toEqual([expect.stringMatching(/^r-[0-9a-f]{8}$/), 'new']);
    expect(team().request.get(id)).toMatchObject({
      text: 'Log in with [redacted]',
      by: 'dana',
      attachments: [FILE],
      joined: [],
    });
  });

  it('joins an open one that asks for the same, with its files', () => {
    const { ask, team } = room();
    const { id } = ask('Add a login form');
    expect(ask('add a LOGIN form.', { by: 'eve', attachments: [FILE] })).toEqual({ id, how: 'join', items: [] });
    expect(team().request.size).toBe(1);
    const { attachments, joined } = team().request.get(id)!;
    expect([attachments, joined]).toMatchObject([[FILE], [{ text: 'add a LOGIN form.', by: 'eve' }]]);
  });

  it('is one request under one key, whatever it says the second time', () => {
    const { ask, team } = room();
    const { id } = ask('Add a login form', { key: 'mail-17' });
    expect(ask('Add something else', { key: 'mail-17' })).toEqual({ id, how: 'known', items: [] });
    const other = ask('add a login form', { key: 'mail-18' });
    expect([other, ask('add a login form', { key: 'mail-18' })]).toMatchObject([
      { id, how: 'join' },
      { id, how: 'known' },
    ]);
    expect(team().request.get(id)?.joined).toHaveLength(1);
  });

  it('reopens the items that it brings something for, and augments the request that they came from', () => {
    const here = room();
    const { ask, write, team } = here;
    const { id } = ask('Deploy it');
    write(KINDS.requestPlan, id, { outcome: 'planned', items: ['b-deploy', 'b-dns'], answer: 'ok', at: 2 });
    blockItem(here, id, 'b-deploy', { required_inputs: ['the port of the server'], inputs: ['it is on eu-1'] });
    blockItem(here, id, 'b-dns');
    expect(ask('The port of the server is 8443')).toEqual({ id, how: 'reopen', items: ['b-deploy'] });
    expect(team().itemState.get('b-deploy')).toEqual({
      state: 'pending',
      inputs: ['it is on eu-1', 'The port of the server is 8443'],
      at: expect.any(Number),
    });
    expect(team().itemState.get('b-dns')).toMatchObject({ state: 'blocked' });
    expect(team().request.get(id)?.joined).toMatchObject([{ text: 'The port of the server is 8443' }]);
    expect(ask('deploy it')).toEqual({ id, how: 'reopen', items: ['b-dns'] });
  });

  it('is a new one that reopens, if no request has asked for the item', () => {
    const here = room();
    blockItem(here, 'none', 'b-flaky');
    const { id, how, items } = here.ask('b-flaky: ask Ann');
    expect([how, items]).toEqual(['reopen', ['b-flaky']]);
    expect(here.team().request.get(id)).toMatchObject({ reopens: 'b-flaky' });
  });

  it('is refused, and nothing is on record', () => {
    const { ask, ledger, team } = room();
    const { id } = ask('Add a login form', {
      attachments: Array.from({ length: 20 }, (_, i) => ({ ...FILE, name: `${i}` })),
    });
    const before = ledger.lastSeq();
    expect(() => ask(' ')).toThrow('the request has no text');
    expect(() => ask('x'.repeat(65_537))).toThrow('larger than 64 KiB');
    expect(() => ask('add a login form', { attachments: [FILE] })).toThrow(`${id} would have 21 files`);
    expect([ledger.lastSeq(), team().request.size]).toEqual([before, 1]);
  });

  it('keeps of what joins it only as much as a record may hold', ALL, () => {
    const here = room();
    const { id } = here.ask('Deploy it');
    here.write(KINDS.requestPlan, id, { outcome: 'planned', items: ['b-a'], answer: 'ok', at: 2 });
    for (let left = 8; left > 0; left -= 1) {
      blockItem(here, id, 'b-a', { inputs: here.team().itemState.get('b-a')?.inputs });
      here.ask(`b-a: ${'x'.repeat(60_000)} ${left}`);
    }
    for (let left = 150; left > 0; left -= 1) here.ask('deploy it');
    const { joined } = here.team().request.get(id)!;
    const inputs = here.team().itemState.get('b-a')?.inputs ?? [];
    expect([joined.length, joined.at(-1)?.text]).toEqual([100, 'deploy it']);
    expect([inputs.length, inputs.at(-1)?.endsWith(' 1')]).toEqual([4, true]);
  });
});

describe('a request that is cancelled', () => {
  it('stays on record, and a second time or another one is refused', () => {
    const here = room();
    const { id } = here.ask('Add a login form');
    expect(() => cancelRequest(here.ledger, 'r-nothere', 5)).toThrow('there is no request r-nothere');
    expect(cancelRequest(here.ledger, id, 5)).toEqual([]);
    expect(here.team().request.get(id)).toMatchObject({ cancelledAt: 5 });
    expect(() => cancelRequest(here.ledger, id, 6)).toThrow('was cancelled before');
    expect(here.ask('Add a login form').how).toBe('new');
  });

  it('names its items, which only a planner takes out; one that is over stays as it is', () => {
    const here = room();
    const { id } = here.ask('Deploy it');
    here.write(KINDS.requestPlan, id, { outcome: 'planned', items: ['b-a'], answer: 'ok', at: 2 });
    blockItem(here, id, 'b-a');
    expect(cancelRequest(here.ledger, id, 5)).toEqual(['b-a']);
    const other = here.ask('Delete everything').id;
    here.write(KINDS.requestPlan, other, { outcome: 'refused', items: [], answer: 'no', at: 2 });
    expect(() => cancelRequest(here.ledger, other, 5)).toThrow(`the request ${other} is refused already`);
  });
});

interface Said {
  readonly text: string;
  readonly key?: string;
  readonly id: string;
  readonly how: string;
}

/** Processes that ask at once: nothing is lost, and nothing is there twice. */
async function storm(processes: number, each: number): Promise<void> {
  const { directory, ledger, team } = room();
  const ask = async (_: unknown, one: number): Promise<readonly Said[]> => {
    const { stdout } = await promisify(execFile)(process.execPath, [MANY, directory, String(one), String(each)]);
    return JSON.parse(stdout) as readonly Said[];
  };
  const said = (await Promise.all(Array.from({ length: processes }, ask))).flat();
  expect(said).toHaveLength(processes * each);
  const firsts = said.filter(({ how }) => how === 'new');
  const { request } = team();
  expect([...request.keys()].toSorted()).toEqual(firsts.map(({ id }) => id).toSorted());
  // Each key, and each text under no key, is one request for all that asked.
  for (const of of [({ key }: Said) => key, ({ key, text }: Said) => (key === undefined ? text : undefined)]) {
    const ids = new Map<string, Set<string>>();
    for (const one of said) {
      const name = of(one);
      if (name !== undefined) ids.set(name, (ids.get(name) ?? new Set()).add(one.id));
    }
    expect(Math.max(...[...ids.values()].map(({ size }) => size))).toBe(1);
  }
  expect(new Set([...request.values()].map(({ fingerprint }) => fingerprint)).size).toBe(request.size);
  ledger.close();
  const check = checkLedger(ledgerPath(directory));
  expect([...check.problems, ...check.violations]).toEqual([]);
}

it('is neither lost nor there twice when processes ask at once', { ...ALL, timeout: 120_000 }, async () =>
  storm(4, 25),
);

it('is neither lost nor there twice when 20 processes ask 5,000 times', { ...NIGHT, timeout: 900_000 }, async () =>
  storm(20, 250),
);
