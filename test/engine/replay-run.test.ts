import { expect, it } from 'vitest';
import { compose } from '../../src/engine/compose.ts';
import type { RunDefinition } from '../../src/model/run.ts';
import { COUNCIL } from '../support/council-scenario.ts';
import { ALL, some } from '../support/lane.ts';
import { replayRun } from '../support/replay/replay-run.ts';
import { driveToEnd, harmTo, inRunRoom, type RunRoom } from '../support/run-room.ts';
import { FAN_OUT, REVIEW } from '../support/run-scenarios.ts';
import { snapshot } from '../support/snapshot.ts';
import { testHost } from '../support/test-host.ts';
import { stateOf } from '../support/state.ts';

async function replayed(room: RunRoom, change?: (definition: RunDefinition) => RunDefinition) {
  return replayRun(compose(testHost(room.root)), stateOf(room.repository), undefined, change);
}

function lastSeq(room: RunRoom): number {
  const ledger = room.ledger();
  try {
    return ledger.lastSeq();
  } finally {
    ledger.close();
  }
}

/** Readers share memory in files of their own, which SQLite makes and removes. */
function filesOf(room: RunRoom): readonly (readonly [string, string])[] {
  return Object.entries(snapshot(stateOf(room.repository))).filter(([path]) => !/-(?:shm|wal)$/.test(path));
}

it(
  'a replay of a run decides the same and writes nothing, and one with another limit says where it differs',
  { ...ALL, timeout: 120_000 },
  async () => {
    await inRunRoom(FAN_OUT, async (room) => {
      expect((await room.begin().finished).code).toBe(0);
      const before = filesOf(room);
      const { steps, differences, recorded } = await replayed(room);
      expect(differences).toEqual([]);
      expect(steps).toBe(recorded);
      expect(steps).toBeGreaterThan(10);
      const other = await replayed(room, (definition) => ({
        ...definition,
        limits: { ...definition.limits, parallel: 1 },
      }));
      expect(other.differences.length).toBeGreaterThan(0);
      expect(other.differences[0]).toMatchObject({ step: 'next' });
      expect(other.differences[0]?.was.join('\n')).toMatch(/attempt \S+\.right-1 of right/);
      expect(filesOf(room)).toEqual(before);
    });
  },
);

const REPLAYED = [
  { scenario: REVIEW, kills: [] },
  { scenario: COUNCIL, kills: [] },
  { scenario: REVIEW, kills: ['graph.applied:7', 'graph.before-apply:12', 'attempt.settled:2'] },
  { scenario: FAN_OUT, kills: ['graph.applied:9', 'graph.waiting:3', 'operation.noted:2'] },
];
it.each(some(REPLAYED, 1, 1))(
  'a replay of $scenario.name, killed at $kills, decides the same',
  { ...ALL, timeout: 240_000 },
  async ({ scenario, kills }) => {
    await inRunRoom(scenario, async (room) => {
      const { last } = await driveToEnd(
        room,
        kills.map((point) => ({ SQUAD_FAILPOINTS: `${point}=kill` })),
      );
      expect(last.code, last.stderr).toBe(0);
      const first = await replayed(room);
      expect(first).toMatchObject({ differences: [], steps: first.recorded });
      const made = await room.run(['fork', '--at', String(Math.floor(lastSeq(room) / 2)), '--name', 'second']);
      expect(made.code, made.stderr).toBe(0);
      const ended = await room.run(['resume', 'second', '--json']);
      // The script of the reviews counts the turns of a session, and a fork begins new ones.
      if (scenario !== REVIEW) expect(ended.code, ended.stdout.slice(-2_000)).toBe(0);
      const second = await replayed(room);
      expect(second).toMatchObject({ differences: [], steps: second.recorded });
      expect(harmTo(room).filter((harm) => harm.startsWith('the ledger'))).toEqual([]);
    });
  },
);
