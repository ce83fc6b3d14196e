import { expect, it } from 'vitest';
import { SquadError } from '../../../src/model/errors.ts';
import { keepByRemote } from '../../../src/squad/pool/keep-by-remote.ts';
import { watchLease } from '../../../src/squad/pool/lease-watch.ts';

const fenced = new SquadError({ code: 'lease-fenced', message: 'another worker has it' });
const away = new SquadError({ code: 'storage-refused', message: 'no route' });

/** Time that passes as code sleeps. `confirm`: at a time. Returns when the right was lost, within a minute. */
async function lostAt(confirm: (now: number) => Promise<void>, renewedUntil: number): Promise<number | undefined> {
  let now = 0;
  const ended = new AbortController();
  const sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  const clock = {
    now: () => now,
    monotonic: () => now,
    sleep: async (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal?.aborted === true) return resolve();
        signal?.addEventListener('abort', () => resolve());
        sleepers.push({ at: now + ms, wake: resolve });
      }),
  };
  const processes = { sinceBoot: () => ({ ms: now, boot: 'boot' }) };
  const lease = watchLease({ clock, processes }, 10_000);
  let lost: number | undefined;
  lease.lost.addEventListener('abort', () => (lost = now));
  const remote = { confirm: async () => confirm(now) };
  const keeping = keepByRemote({ lease, remote, clock, processes, say: () => undefined }, ended.signal);
  for (; now < 60_000 && !lease.lost.aborted; now += 50) {
    if (now <= renewedUntil && now % 3_000 === 0) lease.kept(10_000);
    for (const one of sleepers.filter(({ at }) => at <= now)) {
      sleepers.splice(sleepers.indexOf(one), 1);
      one.wake();
    }
    for (let turns = 0; turns < 10; turns += 1) await Promise.resolve();
  }
  ended.abort();
  lease.stop();
  for (const { wake } of sleepers) wake();
  await keeping;
  return lost;
}

const yes = async (): Promise<void> => Promise.resolve();

it('keeps a run that the pool renews, and asks no one else', async () => {
  expect(await lostAt(async () => Promise.reject(fenced), 60_000)).toBeUndefined();
});

it('keeps it by the remote while the pool is silent', async () => {
  expect(await lostAt(yes, 6_000)).toBeUndefined();
});

it('loses it before the lease ends where both are away, and soon after the remote is', async () => {
  const both = await lostAt(async () => Promise.reject(away), 6_000);
  expect(both).toBeGreaterThan(12_000);
  expect(both).toBeLessThanOrEqual(14_000);
  const later = await lostAt(async (now) => (now < 30_000 ? yes() : Promise.reject(away)), 6_000);
  // The newest look counts for seven seconds, two and a half of which are for agents to end.
  expect(later).toBeGreaterThan(33_000);
  expect(later).toBeLessThanOrEqual(34_800);
});

it('loses it at once when another worker has moved the lease', async () => {
  expect(await lostAt(async (now) => (now < 20_000 ? yes() : Promise.reject(fenced)), 6_000)).toBeLessThanOrEqual(
    20_700,
  );
});
