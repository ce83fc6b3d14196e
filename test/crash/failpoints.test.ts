import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { isHalfMade, openEngineRoom, type EngineRoom, type Finished } from '../support/engine.ts';
import { scriptedTurn } from '../cli/room.ts';
import { markedPids } from '../support/marked-pids.ts';
import { ALL, some, SPREAD } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';

/** The agent leaves one line a run outside its folder, so that a second run of it cannot hide. */
function stepsWithTrace(trace: string): object[] {
  return [
    { run: ['sh', '-c', 'echo ran >> "$0"', trace] },
    { write: { path: 'made.txt', text: 'made\n' } },
    { run: ['sleep', '0.3'] },
    { answer: 'done' },
  ];
}

/** Instants after the claim: whatever happens, the turn goes on in the next engine and its agent runs once. */
const AFTER_CLAIM = [
  'attempt.claimed',
  'turn.files-written',
  'process.spawned',
  'process.before-go',
  'process.after-go',
  'turn.ended',
  'attempt.before-settle',
  'attempt.settled',
] as const;

let room: EngineRoom;
afterEach(() => room.close());

describe('SIGKILL of the engine at a failpoint, then resume', () => {
  it.each(some(AFTER_CLAIM, 1))('%s: the turn is settled once and its agent ran once', SPREAD, async (point) => {
    room = openEngineRoom();
    const trace = join(room.root, 'trace');
    const turn = scriptedTurn(room, stepsWithTrace(trace), '--json');
    const killed = await room.run(turn, { SQUAD_FAILPOINTS: `${point}=kill` });
    expect(killed.signal).toBe('SIGKILL');
    const resumed = await room.run(['resume', '--json']);
    expect(endOf(resumed)).toMatchObject({ outcome: 'completed' });
    const again = await room.run(['resume', '--json']);
    expect(again.stderr).toContain('there is no run to resume here');
    expect(readFileSync(trace, 'utf8')).toBe('ran\n');
    expectSound(room);
  });

  it.each(some([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], 0, 1))(
    'before and after commit number %i: a prefix, and the same end',
    ALL,
    async (pass) => {
      for (const point of ['ledger.before-commit', 'ledger.after-commit']) {
        room = openEngineRoom();
        const trace = join(room.root, 'trace');
        const turn = scriptedTurn(room, stepsWithTrace(trace), '--json');
        const first = await room.run(turn, { SQUAD_FAILPOINTS: `${point}:${pass}=kill` });
        const second = first.signal === 'SIGKILL' ? await room.run(['resume', '--json']) : first;
        const third = claimed(room) ? second : await room.run(turn);
        expect(settled(room), third.stderr).toBe(true);
        expect(readFileSync(trace, 'utf8')).toBe('ran\n');
        expectSound(room);
        if (point === 'ledger.before-commit') room.close();
      }
    },
  );

  it('between the settlement of a lost try and the claim of the next: the next try is made', ALL, async () => {
    room = openEngineRoom();
    const trace = join(room.root, 'trace');
    const turn = scriptedTurn(room, stepsWithTrace(trace), '--json');
    // The first engine dies before "go", the second when it has settled that the agent never ran.
    expect((await room.run(turn, { SQUAD_FAILPOINTS: 'process.before-go=kill' })).signal).toBe('SIGKILL');
    const second = await room.run(['resume', '--json'], {
      SQUAD_FAILPOINTS: 'attempt.settled=kill',
    });
    expect(second.signal).toBe('SIGKILL');
    const third = await room.run(['resume', '--json']);
    expect(endOf(third), third.stderr).toMatchObject({ outcome: 'completed' });
    expect(readFileSync(trace, 'utf8')).toBe('ran\n');
    expectSound(room);
  });
});

function endOf(run: Finished): Record<string, unknown> | undefined {
  return run.lines.findLast((line) => line['type'] === 'attempt-ended');
}

function claimed({ repository, ledger }: EngineRoom): boolean {
  if (!existsSync(ledgerPath(stateOf(repository)))) return false;
  try {
    const open = ledger();
    try {
      return open.attempts({}).length > 0;
    } finally {
      open.close();
    }
  } catch (error) {
    if (isHalfMade(error)) return false;
    throw error;
  }
}

/** One completed attempt at the end; before it only such whose agent never ran. */
function settled({ ledger }: EngineRoom): boolean {
  const open = ledger();
  try {
    const results = open.attempts({}).map((attempt) => open.settlement(attempt.id)?.result);
    const last = results.pop();
    return last?.outcome === 'completed' && results.every((result) => result?.failure?.kind === 'never-started');
  } finally {
    open.close();
  }
}

function expectSound({ repository }: EngineRoom): void {
  const check = checkLedger(ledgerPath(stateOf(repository)));
  expect([...check.problems, ...check.violations]).toEqual([]);
  for (const marker of readdirSync(join(stateOf(repository), 'turns'))) expect(markedPids(marker)).toEqual([]);
}
