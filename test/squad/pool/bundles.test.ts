import { expect, it } from 'vitest';
import { SquadError } from '../../../src/model/errors.ts';
import { createBundles } from '../../../src/squad/pool/bundles.ts';

const fenced = new SquadError({ code: 'lease-fenced', message: 'another worker has it' });

function bundles(store: () => Promise<void>) {
  const lost = new AbortController();
  const said: string[] = [];
  let now = 0;
  const clock = {
    now: () => now,
    monotonic: () => now,
    sleep: (ms: number) => {
      now += ms;
      return Promise.resolve();
    },
  };
  const made = createBundles({ clock, store, lost: lost.signal, say: (text) => said.push(text) });
  return { ...made, lost, said };
}

it('stores one after the other, and once for all that came meanwhile', async () => {
  let [running, most, stored] = [0, 0, 0];
  const kept = bundles(async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running -= 1;
    stored += 1;
  });
  for (let count = 0; count < 20; count += 1) kept.request();
  await kept.flush();
  expect([most, stored]).toEqual([1, 2]);
});

it('tries again until it is stored, and says that once', async () => {
  let tries = 0;
  const kept = bundles(() => {
    tries += 1;
    return tries < 4 ? Promise.reject(new Error('no route')) : Promise.resolve();
  });
  await kept.flush();
  expect([tries, kept.unstoredMs()]).toEqual([4, 0]);
  expect(kept.said).toEqual(['nothing can be kept in the pool now: no route', 'the pool keeps the run again']);
});

it('counts for how long nothing could be stored', async () => {
  let [tries, longest] = [0, 0];
  const kept = bundles(() => {
    tries += 1;
    longest = Math.max(longest, kept.unstoredMs());
    return tries < 6 ? Promise.reject(new Error('no route')) : Promise.resolve();
  });
  await kept.flush();
  expect(longest).toBe(10_000);
});

it('never says that something is stored which another worker has refused', async () => {
  const kept = bundles(() => Promise.reject(fenced));
  await expect(kept.flush()).rejects.toBe(fenced);
  await expect(kept.flush()).rejects.toBe(fenced);
});

it('ends to wait once the run is lost', async () => {
  const kept = bundles(() => {
    kept.lost.abort();
    return Promise.reject(new Error('no route'));
  });
  await expect(kept.flush()).rejects.toMatchObject({ code: 'lease-fenced' });
});
