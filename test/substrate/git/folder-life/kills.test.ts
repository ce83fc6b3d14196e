// @module-tag all
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, describe, it } from 'vitest';
import { spread, SPREAD } from '../../../support/lane.ts';
import { createRandom } from '../../../support/random.ts';
import { FAILPOINTS } from '../../../../src/substrate/system/failpoint.ts';
import { fingerprint, removeFolders, temporaryFolder } from '../bench.ts';
import { beginLife, playLife, type Life } from './life.ts';
import { expectCleanEnd, expectDelivered } from './life-end.ts';
import { LIFE_CHILD } from './life-child.ts';

afterEach(removeFolders);

const HOURS = { ...SPREAD, timeout: 7_200_000 };

/** An engine that is not killed makes about so many changes of the file system, in about so many ms. */
const STEPS = 4_500;
const MS = 5_000;

/** The steps that have a name. Most are passed several times. */
const POINTS = FAILPOINTS.filter((name) => name.startsWith('git.'));
const PASSES = 3;

type Moment = { readonly failpoint: string } | { readonly step: number } | { readonly afterMs: number };

/** How an engine ends that is killed at a moment of its run, unless it is faster. */
async function runUntil({ root, record }: Life, moment: Moment): Promise<string | number | null> {
  const args = [
    LIFE_CHILD,
    root,
    record,
    'failpoint' in moment ? moment.failpoint : '',
    'step' in moment ? moment.step : 0,
  ];
  const child = spawn(process.execPath, args.map(String), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], TMPDIR: process.env['TMPDIR'] },
  });
  let said = '';
  child.stderr.on('data', (data: Buffer) => (said += data.toString()));
  child.stdout.on('data', () => {
    if ('afterMs' in moment) setTimeout(() => child.kill('SIGKILL'), moment.afterMs);
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== null && code !== 0) throw new Error(said);
  return signal ?? code;
}

/** Kills engines of one run at these moments, until one is faster, and then ends the run, or leaves it as it is, and cleans it away. */
async function killThrough(moments: readonly Moment[], end: 'played' | 'cleaned'): Promise<number> {
  const root = temporaryFolder();
  const life = await beginLife({ root, record: join(root, 'record') });
  const before = fingerprint(life.repository);
  let kills = 0;
  for (const moment of moments) {
    if ((await runUntil(life, moment)) !== 'SIGKILL') break;
    kills += 1;
  }
  if (end === 'played') {
    await playLife(life);
    expectDelivered(life);
  }
  await expectCleanEnd(life, before);
  await life.workspaces.close();
  removeFolders();
  return kills;
}

const MOST_KILLS = 6;

/** At a named step, each in turn; before any change of the file system; or whenever, also within a git. */
function momentOf(pick: (below: number) => number, kills: number): Moment {
  const kind = pick(3);
  if (kind === 0) return { step: 1 + pick(STEPS) };
  if (kind === 1) return { afterMs: pick(MS) };
  return { failpoint: `${POINTS[kills % POINTS.length]}:${1 + pick(PASSES)}=kill` };
}

describe('SIGKILL while folders are made, moved, brought back, renamed and removed', () => {
  it('hands out none that is half-done, leaves none after clean, and loses no work', HOURS, async () => {
    const wanted = spread(2, 300, 4);
    let kills = 0;
    for (let seed = 1; kills < wanted; seed += 1) {
      const random = createRandom(seed);
      const pick = (below: number): number => Math.floor(random() * below);
      const count = Math.min(1 + pick(MOST_KILLS), wanted - kills);
      const moments = Array.from({ length: count }, (_, index) => momentOf(pick, kills + index));
      const end = pick(3) === 0 ? 'cleaned' : 'played';
      kills += await killThrough(moments, end).catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${JSON.stringify(moments)}, ${end}`, { cause: error });
      });
    }
    console.log(`${kills} engines killed`);
  });
});
