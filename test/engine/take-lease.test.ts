import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeLease } from '../../src/engine/take-lease.ts';
import { engineTime } from '../../src/model/spending.ts';
import type { BootMoment } from '../../src/substrate/ports/ledger.ts';
import { claim, decide, openBench, result } from '../substrate/ledger/support.ts';

const HOUR = 3_600_000;
const seenAt = (ms: number, boot = 'one'): BootMoment => ({ boot, ms });

/** The turns of an engine that died after ten seconds, and the next engine at `now`. `ended`: epoch ms by their exit files. */
async function nextEngine(
  turns: readonly { readonly alive?: boolean; readonly ended?: number }[],
  now: BootMoment,
  clock: number,
  last: BootMoment | undefined = seenAt(50_000),
): Promise<number> {
  const { ledger, lease, directory, ...bench } = openBench();
  decide({ ledger, lease, directory, ...bench }, ...turns.map((_, place) => claim(`a-${place}`, `t${place}`)));
  for (const [place, { ended }] of turns.entries()) {
    const id = `a-${place}`;
    ledger.markSpawned(lease, id, { pid: 4_000_000 + place, startTime: '1', bootId: 'one', marker: id }, 5);
    const folder = join(directory, 'turns', id);
    mkdirSync(folder, { recursive: true });
    if (ended === undefined) continue;
    writeFileSync(join(folder, 'exit'), '0');
    utimesSync(join(folder, 'exit'), ended / 1000, ended / 1000);
  }
  ledger.renewLease(lease, 10_000, last);
  const processes = {
    sinceBoot: () => now,
    isAlive: ({ marker }: { marker: string }) => Promise.resolve(turns[Number(marker.slice(2))]?.alive === true),
  };
  const ports = { clock: { now: () => clock }, processes, host: { pid: 7 } };
  await takeLease(ports as unknown as Parameters<typeof takeLease>[0], { ledger, directory }, 'r');
  ledger.settle({ runId: 'r', epoch: 2 }, 'a-0', result());
  const again = { ...ports, processes: { ...processes, sinceBoot: () => seenAt(now.ms + 500, now.boot) } };
  // The next one is killed before its first beat: what it had found is on record all the same.
  await takeLease(again as unknown as Parameters<typeof takeLease>[0], { ledger, directory }, 'r');
  return engineTime(ledger.segments('r').slice(0, 2)) - 10_000;
}

describe('time in which agents worked without an engine counts as engine time', () => {
  const NOW = 2_000_000_000_000;
  it.each<[string, Parameters<typeof nextEngine>, number]>([
    ['of a turn that still works', [[{ alive: true }], seenAt(90_000), NOW], 40_000],
    ['once where two work at the same time', [[{ alive: true }, { alive: true }], seenAt(90_000), NOW], 40_000],
    ['up to the end of a turn that has ended', [[{ ended: NOW - 30_000 }], seenAt(90_000), NOW], 10_000],
    [
      'of the one that worked longest',
      [[{ ended: NOW - 30_000 }, { ended: NOW - 5_000 }], seenAt(90_000), NOW],
      35_000,
    ],
    ['not of a turn that left no sign', [[{}], seenAt(90_000), NOW], 0],
    ['not of a turn that ended before the engine did', [[{ ended: NOW - HOUR }], seenAt(90_000), NOW], 0],
    [
      'no longer than since the last sign, where the clock went back',
      [[{ ended: NOW + HOUR }], seenAt(90_000), NOW],
      40_000,
    ],
    [
      'the same of a living turn, wherever the clock is',
      [[{ alive: true }], seenAt(90_000), NOW - 400 * 24 * HOUR],
      40_000,
    ],
    ['not over a start of the machine', [[{ alive: true }], seenAt(90_000, 'two'), NOW], 0],
  ])('%s', async (_, given, expected) => {
    expect(await nextEngine(...given)).toBe(expected);
  });
});

describe('an engine that takes a run', () => {
  const spawned = (id: string) => ({ id, status: 'spawned', process: { marker: id } });
  /** What is on record of the run, and what the new engine writes of the time before it. */
  const take = async (
    segments: readonly unknown[],
    attempts: readonly { status: string }[],
    sinceBoot: () => BootMoment,
  ) => {
    const renewed: unknown[] = [];
    const ledger = {
      segments: () => segments,
      attempts: ({ status }: { status?: string }) =>
        attempts.filter((one) => status === undefined || one.status === status),
      acquireLease: (runId: string, holder: string) => ({ runId, epoch: 1, holder }),
      renewLease: (_: unknown, ...given: unknown[]) => renewed.push(given),
    };
    const processes = { sinceBoot, isAlive: async () => true };
    const ports = { clock: { now: () => 0 }, processes, host: { pid: 7 } } as unknown as Parameters<
      typeof takeLease
    >[0];
    const resources = { ledger, directory: '/none' } as unknown as Parameters<typeof takeLease>[1];
    expect(await takeLease(ports, resources, 'r')).toMatchObject({ runId: 'r', holder: expect.stringContaining('7') });
    return renewed;
  };
  const now = seenAt(90_000);

  it.each([
    ['that no engine had before', [], [spawned('a')], 0],
    ['whose engine was never seen', [{ seen: null }], [spawned('a')], 0],
    [
      'whose last engine was not seen, from when the one before was',
      [{ seen: seenAt(50_000) }, { seen: null }],
      [spawned('a')],
      40_000,
    ],
    ['without turns that are left', [{ seen: seenAt(50_000) }], [], 0],
    ['with a turn that is settled', [{ seen: seenAt(50_000) }], [{ ...spawned('a'), status: 'settled' }], 0],
    ['with a turn of which no process is known', [{ seen: seenAt(50_000) }], [{ ...spawned('a'), process: null }], 0],
  ])('%s, counts the time in which its turns worked', async (_, segments, attempts, counted) => {
    expect(await take(segments, attempts, () => now)).toEqual([[counted, now]]);
  });

  it('takes it on a machine without a clock that processes share, and counts nothing', async () => {
    const none = (): never => {
      throw new Error('no such clock');
    };
    expect(await take([{ seen: seenAt(50_000) }], [spawned('a')], none)).toEqual([[0, undefined]]);
  });
});
