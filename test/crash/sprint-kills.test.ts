import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { FailpointName } from '../../src/substrate/system/failpoint.ts';
import { chaosSeed, reportTrials } from '../support/chaos-row.ts';
import { ALL, NIGHT } from '../support/lane.ts';
import { createRandom } from '../support/random.ts';
import {
  ASK,
  openTeamBench,
  placeOf,
  START,
  teamEndOf,
  wrongInHistory,
  type TeamBench,
} from '../support/team-kills.ts';

/** Between a request and its answer, in the order in which they are passed. */
const POINTS: readonly FailpointName[] = [
  ...(['review.opened', 'review.submitted', 'sprint.opened', 'sprint.submitted'] as const),
  ...(['sprint.line', 'sprint.closed'] as const),
];

interface Reference {
  readonly end: ReturnType<typeof teamEndOf>;
  /** In its ledger. */
  readonly events: number;
}

const references = new Map<string, Promise<Reference>>();

/** How it ends where nothing is killed. */
async function referenceOf(
  command: readonly string[],
  prepare: (bench: TeamBench) => Promise<void>,
): Promise<Reference> {
  const play = async (): Promise<Reference> => {
    const bench = await openTeamBench();
    try {
      await prepare(bench);
      const { code, stderr } = await bench.run(command);
      expect(code, stderr).toBe(0);
      const end = teamEndOf(bench);
      expect(Object.keys(end.files).length).toBeGreaterThan(20);
      return { end, events: eventsOf(bench) };
    } finally {
      bench.end();
    }
  };
  const key = command.join(' ');
  const known = references.get(key) ?? play();
  references.set(key, known);
  return known;
}

function eventsOf(bench: TeamBench): number {
  const ledger = bench.ledger();
  const last = ledger.lastSeq();
  ledger.close();
  return last;
}

async function asked(): Promise<void> {}

async function planned({ run }: TeamBench): Promise<void> {
  const { code, stderr } = await run(ASK.map((word) => (word === 'done' ? 'planned' : word)));
  expect(code, stderr).toBe(0);
}

/** The bench ends with a check of the ledger and of what is left alive. */
function expectUnharmed(bench: TeamBench, { end }: Reference): void {
  expect(wrongInHistory(bench)).toEqual([]);
  expect(teamEndOf(bench)).toEqual(end);
}

describe('SIGKILL between a request and its answer', { ...ALL, timeout: 400_000 }, () => {
  it('at each point of a request that waits until it is done: it is answered once, as without', async () => {
    const reference = await referenceOf(ASK, asked);
    const bench = await openTeamBench();
    try {
      for (const point of POINTS) {
        const killed = await bench.run(ASK, { SQUAD_FAILPOINTS: `${point}:1=kill` });
        expect([point, killed.signal], killed.stderr).toEqual([point, 'SIGKILL']);
        expect(wrongInHistory(bench)).toEqual([]);
      }
      const { code, lines, stderr } = await bench.run(ASK);
      expect(code, stderr).toBe(0);
      expect(lines.at(-1)).toMatchObject({ type: 'request-ended', id: bench.request, state: 'done' });
      expectUnharmed(bench, reference);
    } finally {
      bench.end();
    }
  });

  it('at each point of a sprint that a person starts: the same command continues it', async () => {
    const reference = await referenceOf(START, planned);
    const bench = await openTeamBench();
    try {
      await planned(bench);
      for (const point of POINTS.slice(2)) {
        const killed = await bench.run(START, { SQUAD_FAILPOINTS: `${point}:1=kill` });
        expect([point, killed.signal], killed.stderr).toEqual([point, 'SIGKILL']);
      }
      // Its end is on record, and its files are written by what comes next.
      const { code, stderr } = await bench.run(ASK);
      expect(code, stderr).toBe(0);
      expectUnharmed(bench, reference);
    } finally {
      bench.end();
    }
  });
});

/** In all: `SQUAD_KILLS=500` for a longer trial. With the `SQUAD_CHAOS_SEED` that a team printed, the first team repeats it. */
const KILLS = Number(process.env['SQUAD_KILLS'] ?? 20);
const SEED = chaosSeed();
/** Of one team: more would leave it no time to work. */
const MOST = 20;

it.each(Array.from({ length: Math.ceil(KILLS / MOST) }, (_, index) => index))(
  'SIGKILL at random moments, team %i: the request is answered once, as without',
  { ...NIGHT, timeout: 7_200_000 },
  async (team) => {
    const seed = SEED + team;
    const random = createRandom(seed);
    const reference = await referenceOf(ASK, asked);
    const bench = await openTeamBench();
    const passed: string[] = [];
    let failures = 1;
    try {
      for (let kill = 0; kill < MOST; kill += 1) {
        const engine = bench.start(ASK);
        // By what it has done, since a loaded machine would have done nothing in a time of the clock.
        const until = eventsOf(bench) + Math.ceil((random() * 2 * reference.events) / MOST);
        while (engine.child.exitCode === null && eventsOf(bench) < until) await sleep(20);
        await Promise.race([engine.finished, sleep(random() * 200)]);
        engine.child.kill('SIGKILL');
        const { signal, code, stderr } = await engine.finished;
        passed.push(placeOf(bench));
        expect(signal ?? code, stderr).toBeOneOf(['SIGKILL', 0]);
        expect(wrongInHistory(bench)).toEqual([]);
      }
      const { code, lines, stderr } = await bench.run(ASK);
      expect(code, stderr).toBe(0);
      expect(lines.at(-1)).toMatchObject({ type: 'request-ended', id: bench.request, state: 'done' });
      expectUnharmed(bench, reference);
      failures = 0;
    } finally {
      const fault = `SIGKILL of a team: ${passed.join(', ')}`;
      reportTrials({ fault, trials: passed.length, failures, bound: '0 failures', seed });
      bench.end();
    }
  },
);
