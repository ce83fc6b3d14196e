import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256Of } from '../../../src/model/sha256.ts';
import type { NewPoolRun, PoolBundle, PoolWorker } from '../../../src/substrate/ports/pool.ts';
import { poolAddress } from '../../../src/substrate/pool/address.ts';
import { openPool, type OpenedPool } from '../../../src/substrate/pool/index.ts';
import { createSystemClock } from '../../../src/substrate/system/clock/system-clock.ts';
import { startPostgres, whyNoPostgres, type TestPostgres } from '../../support/postgres.ts';

const why = whyNoPostgres();
const clock = createSystemClock();
const SOON = { timeout: 60_000 };

const newRun = (id: string, more: Partial<NewPoolRun> = {}): NewPoolRun => ({
  ...{ id, name: id, repository: 'ssh://git.test/app.git', base: 'a'.repeat(40), labels: [], priority: 0 },
  ...{ submittedBy: 'ada', about: { title: 'x\u0000y' } },
  ...more,
});

const pageOf = (letter: string) => Buffer.alloc(4096, letter);

/** A bundle whose ledger has a page for each letter; `changed`: the numbers of those that are sent. */
function bundleOf(
  letters: string,
  changed = letters.split('').map((_, number) => number),
  contents: readonly string[] = [],
): PoolBundle {
  return {
    manifest: JSON.stringify({
      letters,
      ...(contents.length > 0 && { parts: contents.map((text) => ({ sha256: sha256Of(text) })) }),
    }),
    names: contents.map((text) => sha256Of(text)),
    pages: {
      ...{ pageBytes: 4096, count: letters.length },
      changed: new Map(changed.map((number) => [number, pageOf(letters[number] ?? '')])),
    },
    contents: new Map(contents.map((text) => [sha256Of(text), Buffer.from(text)])),
  };
}

const worker = (name: string, instance = `${name}-1`): PoolWorker => ({
  ...{ name, instance, version: '1.0.0', host: `${name}.test`, labels: ['gpu'], slots: 2, offers: {} },
});

describe.skipIf(why !== undefined)(`the store of a pool${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  let server: TestPostgres;
  let pool: OpenedPool;
  let count = 0;
  let url: string;
  beforeAll(async () => {
    server = await startPostgres();
    url = await server.url('store');
    pool = await openPool(url, clock);
  }, 120_000);
  afterAll(async () => {
    await pool.close();
    server.close();
  });

  it('can be read by a role that may only read', SOON, async () => {
    const { id } = await submitted();
    const { Client } = await import('pg');
    const owner = new Client({ connectionString: url });
    await owner.connect();
    await owner.query('create role reader login');
    await owner.query('grant usage on schema squad_pool to reader');
    await owner.query('grant select on all tables in schema squad_pool to reader');
    await owner.end();
    const reader = await openPool(url.replace('//squad@', '//reader@'), clock);
    try {
      expect(await reader.store.run(id)).toMatchObject({ id, state: 'queued' });
      expect(await reader.store.bundle(id)).toMatchObject({ manifest: expect.stringContaining('"letters":"abc"') });
      await expect(reader.store.removeRun(id)).rejects.toMatchObject({ code: 'wrong-environment' });
      expect(await pool.store.run(id)).toMatchObject({ state: 'queued' });
    } finally {
      await reader.close();
    }
  });

  const submitted = async (more: Partial<NewPoolRun> = {}) => {
    const run = newRun(`run-${(count += 1)}`, more);
    await pool.store.submit(run, bundleOf('abc', undefined, ['skill']));
    return run;
  };
  /** Lets the lease of a run end, as if its worker had been away. */
  const letLapse = async (id: string) => {
    const { Client } = await import('pg');
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`update squad_pool.run set lease_until = clock_timestamp() - interval '1 ms' where id = $1`, [
      id,
    ]);
    await client.end();
  };
  const lettersOf = async (id: string) =>
    (await pool.store.bundle(id))?.pages.map((page) => String.fromCodePoint(page[0] ?? 0)).join('');

  it('keeps a run as it was submitted, once', SOON, async () => {
    const run = await submitted({ labels: ['gpu'], priority: 3 });
    expect(await pool.store.submit(run, bundleOf('zzz'))).toBe('known');
    expect(await pool.store.run(run.name)).toMatchObject({ ...run, state: 'queued', epoch: 0, worker: null });
    expect(await pool.store.bundle(run.id)).toMatchObject({ epoch: 0, number: 1, pageBytes: 4096 });
    expect(await lettersOf(run.id)).toBe('abc');
    expect(Buffer.from(await pool.store.content(sha256Of('skill'))).toString()).toBe('skill');
    expect(await pool.store.missing([sha256Of('skill'), sha256Of('other')])).toEqual([sha256Of('other')]);
  });

  it('refuses a second run of the name in the repository alone, until the first was removed', SOON, async () => {
    const run = await submitted({ name: 'one-name' });
    const again = newRun('again', { name: 'one-name' });
    await expect(pool.store.submit(again, bundleOf('a'))).rejects.toMatchObject({ code: 'usage' });
    const elsewhere = newRun('elsewhere', { name: 'one-name', repository: 'ssh://git.test/other.git' });
    expect(await pool.store.submit(elsewhere, bundleOf('a'))).toBe('added');
    await expect(pool.store.run('one-name')).rejects.toThrow(/2 runs one-name/);
    expect((await pool.store.run('elsewhere')).id).toBe('elsewhere');
    await pool.store.removeRun(run.id);
    expect(await pool.store.submit(again, bundleOf('a'))).toBe('added');
  });

  it('gives a run to one of many workers, and to no other before its lease has ended', SOON, async () => {
    const { id } = await submitted();
    const all = await Promise.all(Array.from({ length: 8 }, async (_, index) => pool.store.claim(id, `w${index}`)));
    expect(all.filter((claim) => claim !== undefined)).toHaveLength(1);
    expect(await pool.store.run(id)).toMatchObject({ state: 'running', epoch: 1, isHeld: true });
    await letLapse(id);
    expect(await pool.store.run(id)).toMatchObject({ isHeld: false });
    expect(await pool.store.claim(id, 'next')).toEqual({ run: id, worker: 'next', epoch: 2 });
  });

  it('refuses every write of a worker that has lost its run', SOON, async () => {
    const { id } = await submitted();
    const former = await pool.store.claim(id, 'former');
    if (former === undefined) throw new Error('it was not given');
    await pool.store.storeBundle(former, bundleOf('abX', [2]));
    const command = await pool.store.command(id, 'pause', {}, 'ada');
    await letLapse(id);
    const now = await pool.store.claim(id, 'now');
    if (now === undefined) throw new Error('it was not given');
    const before = await pool.store.run(id);
    const lost = { code: 'lease-fenced' };
    await expect(pool.store.storeBundle(former, bundleOf('QQQ'))).rejects.toMatchObject(lost);
    await expect(pool.store.setStatus(former, { a: 1 })).rejects.toMatchObject(lost);
    await expect(pool.store.release(former, { state: 'over', why: null })).rejects.toMatchObject(lost);
    await expect(pool.store.answerCommand(former, command.id, 'late')).rejects.toMatchObject(lost);
    expect(await pool.store.renew([former, now])).toEqual([now]);
    expect(await pool.store.run(id)).toEqual(before);
    expect(await lettersOf(id)).toBe('abX');
    expect((await pool.store.findCommand(command.id))?.doneAt).toBeNull();
    // One of the same epoch under another name is none of its.
    await expect(pool.store.storeBundle({ ...now, worker: 'other' }, bundleOf('QQQ'))).rejects.toMatchObject(lost);
  });

  it('puts changed pages over the stored ones, and forgets those beyond its end', SOON, async () => {
    const { id } = await submitted();
    const claim = await pool.store.claim(id, 'w');
    if (claim === undefined) throw new Error('it was not given');
    await pool.store.storeBundle(claim, bundleOf('aBcd', [1, 3], ['more']));
    expect(await lettersOf(id)).toBe('aBcd');
    await pool.store.storeBundle(claim, bundleOf('aE', [1]));
    expect(await lettersOf(id)).toBe('aE');
    const stored = await pool.store.bundle(id);
    expect(stored).toMatchObject({ number: 3, epoch: 1, manifest: JSON.stringify({ letters: 'aE' }) });
    expect(await pool.store.bundle(id, 3)).toBeUndefined();
  });

  it('stores all of a bundle or nothing', SOON, async () => {
    const { id } = await submitted();
    const claim = await pool.store.claim(id, 'w');
    if (claim === undefined) throw new Error('it was not given');
    const broken = bundleOf('xyz');
    const contents = new Map([
      [sha256Of('part'), Buffer.from('part')],
      ['null', null as unknown as Buffer],
    ]);
    await expect(pool.store.storeBundle(claim, { ...broken, contents })).rejects.toThrow(/null/);
    expect(await lettersOf(id)).toBe('abc');
    expect(await pool.store.missing([sha256Of('part')])).toEqual([sha256Of('part')]);
    expect(await pool.store.run(id)).toMatchObject({ state: 'running' });
  });

  it('says what a part of it is, that was changed in the database', SOON, async () => {
    const { id } = await submitted();
    const { Client } = await import('pg');
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('delete from squad_pool.page where run = $1 and number = 1', [id]);
    await client.query('insert into squad_pool.content values ($1, $2)', [sha256Of('right'), Buffer.from('wrong')]);
    await client.end();
    await expect(pool.store.bundle(id)).rejects.toMatchObject({ code: 'bad-input', message: /2 of 3 pages/ });
    await expect(pool.store.content(sha256Of('right'))).rejects.toMatchObject({ code: 'bad-input' });
    await expect(pool.store.content(sha256Of('none'))).rejects.toMatchObject({ code: 'bad-input' });
  });

  it('queues what waits at its time, what has a command, and what a lost worker left', SOON, async () => {
    const [timed, asked, lost, over] = [await submitted(), await submitted(), await submitted(), await submitted()];
    for (const { id } of [timed, asked, over]) {
      const claim = await pool.store.claim(id, 'w');
      if (claim === undefined) throw new Error('it was not given');
      const state = id === over.id ? 'over' : 'waiting';
      await pool.store.release(claim, { state, why: 'a reset', again: Date.now() + (id === timed.id ? 0 : 3_600_000) });
    }
    await pool.store.claim(lost.id, 'gone');
    await letLapse(lost.id);
    const dueNow = async () => (await pool.store.due()).map(({ id }) => id).filter((id) => mine.has(id));
    const mine = new Set([timed, asked, lost, over].map(({ id }) => id));
    expect((await dueNow()).toSorted()).toEqual([timed.id, lost.id].toSorted());
    expect(await pool.store.run(lost.id)).toMatchObject({ state: 'queued', why: 'its worker gone was lost' });
    await pool.store.command(asked.id, 'resume', {}, 'ada');
    expect(await pool.store.run(asked.id)).toMatchObject({ state: 'queued', again: null });
    expect(await pool.store.run(over.id)).toMatchObject({ state: 'over' });
  });

  it('hands a command to the worker and its answer back, and tells both at once', SOON, async () => {
    const { id } = await submitted();
    const claim = await pool.store.claim(id, 'w');
    if (claim === undefined) throw new Error('it was not given');
    const heard: string[] = [];
    const stop = pool.store.follow((run) => heard.push(run));
    // It says '' once it listens.
    await expect.poll(() => heard, { timeout: 20_000 }).toContain('');
    const command = await pool.store.command(id, 'answer', { text: 'yes\u0000' }, 'ada');
    await expect.poll(() => heard.filter((run) => run === id).length, { timeout: 20_000 }).toBe(1);
    expect(await pool.store.commandsFor(id)).toMatchObject([
      { id: command.id, args: { text: 'yes\u0000' }, by: 'ada' },
    ]);
    await pool.store.answerCommand(claim, command.id, { ok: true });
    await expect.poll(() => heard.filter((run) => run === id).length, { timeout: 20_000 }).toBe(2);
    expect(await pool.store.findCommand(command.id)).toMatchObject({ answer: { ok: true } });
    expect(await pool.store.commandsFor(id)).toEqual([]);
    stop();
  });

  it('deletes what a removed run alone has, and nothing that another one names', SOON, async () => {
    const { store } = pool;
    for (const [id, contents] of [
      ['gone', ['only-gone', 'shared']],
      ['stays', ['only-stays', 'shared']],
    ] as const)
      await store.submit(newRun(id), bundleOf('ab', undefined, contents));
    const hashes = ['only-gone', 'shared', 'only-stays'].map((text) => sha256Of(text));
    await store.command('gone', 'intervene', {}, 'ada');
    await store.removeRun('gone');
    expect(await store.missing(hashes)).toEqual([sha256Of('only-gone')]);
    expect(await store.commandsFor('gone')).toEqual([]);
    // One that counted on it hears so, stores nothing, and brings it along the next time.
    const counted = { ...bundleOf('ab', undefined, ['only-gone']), contents: new Map() };
    await expect(store.submit(newRun('late'), counted)).rejects.toMatchObject({ code: 'storage-refused' });
    expect((await store.runs()).some(({ id }) => id === 'late')).toBe(false);
    expect(await store.submit(newRun('late'), bundleOf('ab', undefined, ['only-gone']))).toBe('added');
    expect(await store.missing(hashes)).toEqual([]);
  });

  it('releases a run with a command that came meanwhile as one that a worker has to take', SOON, async () => {
    const { id } = await submitted();
    const { store } = pool;
    const claim = await store.claim(id, 'w1');
    if (claim === undefined) throw new Error('not claimed');
    // After its last look, and before it gives the run back.
    const { id: asked } = await store.command(id, 'intervene', {}, 'ada');
    await store.release(claim, { state: 'waiting', why: 'for a person', again: Date.now() + 3_600_000 });
    expect(await store.run(id)).toMatchObject({ state: 'queued', why: null, again: null, worker: null });
    const next = await store.claim(id, 'w2');
    if (next === undefined) throw new Error('not claimed');
    await store.answerCommand(next, asked, { done: true });
    await store.release(next, { state: 'waiting', why: 'for a person' });
    expect(await store.run(id)).toMatchObject({ state: 'waiting', why: 'for a person' });
  });

  it('lets two workers not have one name while both are alive, and drains and removes them', SOON, async () => {
    expect(await pool.store.register(worker('one'))).toEqual({ isDraining: false });
    await expect(pool.store.register(worker('one', 'another'))).rejects.toMatchObject({
      code: 'usage',
      message: 'another worker one is at work on one.test',
    });
    await pool.store.drainWorker('one');
    expect(await pool.store.register(worker('one'))).toEqual({ isDraining: true });
    expect(await pool.store.workers()).toMatchObject([{ name: 'one', isDraining: true, isAlive: true, slots: 2 }]);
    const { id } = await submitted();
    const claim = await pool.store.claim(id, 'one');
    await pool.store.removeWorker('one');
    expect(await pool.store.workers()).toEqual([]);
    expect(await pool.store.renew(claim === undefined ? [] : [claim])).toEqual([]);
    expect(await pool.store.run(id)).toMatchObject({ state: 'queued', worker: null });
    await expect(pool.store.register(worker('one'))).rejects.toThrow('was taken out');
    expect(await pool.store.register(worker('one', 'new'))).toEqual({ isDraining: false });
    await expect(pool.store.drainWorker('onne')).rejects.toThrow('did you mean one?');
  });

  it('takes the run of one that people removed from its worker', SOON, async () => {
    const { id } = await submitted();
    const claim = await pool.store.claim(id, 'w');
    if (claim === undefined) throw new Error('it was not given');
    await pool.store.removeRun(id);
    await expect(pool.store.storeBundle(claim, bundleOf('a'))).rejects.toMatchObject({ code: 'lease-fenced' });
    await expect(pool.store.command(id, 'pause', {}, 'ada')).rejects.toMatchObject({ code: 'usage' });
    expect(await pool.store.claim(id, 'w')).toBeUndefined();
    expect(await pool.store.bundle(id)).toBeUndefined();
  });
});

describe.skipIf(why !== undefined)(`a database of a pool${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  }, 120_000);
  afterAll(() => {
    server.close();
  });

  it('gets its tables once, whoever comes first', SOON, async () => {
    const url = await server.url('many');
    const pools = await Promise.all(Array.from({ length: 4 }, async () => openPool(url, clock)));
    for (const pool of pools) expect(await pool.store.runs()).toEqual([]);
    await Promise.all(pools.map(async (pool) => pool.close()));
  });

  it('of a newer squad is refused', SOON, async () => {
    const url = await server.url('newer');
    await (await openPool(url, clock)).close();
    const { Client } = await import('pg');
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('update squad_pool.version set number = 99');
    await client.end();
    await expect(openPool(url, clock)).rejects.toMatchObject({ code: 'schema-newer' });
  });

  it('that is absent, refuses, or has no such name, is named without its password', SOON, async () => {
    const closed = 'postgres://ada:canary-secret@127.0.0.1:9/pool';
    await expect(openPool(closed, clock)).rejects.toMatchObject({
      code: 'storage-refused',
      message: expect.not.stringContaining('canary-secret') as unknown,
    });
    const unknown = `postgres://squad@127.0.0.1:${server.port}/nothing`;
    await expect(openPool(unknown, clock)).rejects.toMatchObject({ code: 'wrong-environment' });
    const nobody = (await server.url('roles')).replace('squad@', 'stranger@');
    await expect(openPool(nobody, clock)).rejects.toMatchObject({ code: 'wrong-environment' });
  });

  it('that restarts loses nothing, and is used again by those who have it open', { timeout: 180_000 }, async () => {
    const url = await server.url('restarted');
    const pool = await openPool(url, clock);
    await pool.store.submit(newRun('kept'), bundleOf('abc'));
    const heard: string[] = [];
    pool.store.follow((run) => heard.push(run));
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(1);
    const claim = await pool.store.claim('kept', 'w');
    if (claim === undefined) throw new Error('it was not given');
    server.stop();
    await expect(pool.store.storeBundle(claim, bundleOf('abX', [2]))).rejects.toMatchObject({
      code: 'storage-refused',
    });
    server.start();
    await pool.store.storeBundle(claim, bundleOf('abY', [2]));
    expect(await pool.store.run('kept')).toMatchObject({ epoch: 1, worker: 'w' });
    // It listens again, and says that it may have missed something.
    await expect.poll(() => heard.filter((run) => run === '').length, { timeout: 60_000 }).toBe(2);
    await pool.close();
  });
});

describe('the address of a pool', () => {
  it.each([
    ['postgres://squad@localhost/squad'],
    ['postgresql://squad@127.0.0.1:5433/squad'],
    ['postgres://squad@[::1]/squad'],
    ['postgres:///squad?host=/var/run/postgresql'],
  ])('needs no TLS on this machine: %s', (text) => {
    expect(poolAddress(text).url).toBe(text);
  });

  it.each([['postgres://squad@db.test/squad'], ['postgres://squad@db.test/squad?sslmode=require']])(
    'is checked by certificate beyond it: %s',
    (text) => {
      expect(new URL(poolAddress(text).url).searchParams.get('sslmode')).toBe('verify-full');
    },
  );

  it.each([['disable'], ['allow'], ['prefer'], ['no-verify']])('is refused beyond it with sslmode=%s', (mode) => {
    expect(() => poolAddress(`postgres://squad@db.test/squad?sslmode=${mode}`)).toThrow('has to be reached by TLS');
  });

  it('is refused for something else, without its password', () => {
    expect(() => poolAddress('mysql://ada:canary-secret@db/x')).toThrow(/^mysql:\/\/…@db\/x is no address/);
    expect(poolAddress('postgres://ada:canary-secret@db.test/x').shown).toBe('postgres://db.test/x');
  });
});
