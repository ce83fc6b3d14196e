// @module-tag all
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { compose } from '../../src/engine/compose.ts';
import { newFork } from '../../src/engine/fork-run.ts';
import { liveAttempts } from '../../src/rules/work-requests.ts';
import { statusOf } from '../../src/rules/work-status.ts';
import type { Board } from '../../src/model/plan/board.ts';
import { momentAt, planFork } from '../../src/view/fork-plan.ts';
import { findDefinition, readRun } from '../../src/view/read-run.ts';
import { ledgerPath, openLedger } from '../../src/substrate/ledger/index.ts';
import { COUNCIL } from '../support/council-scenario.ts';
import { ALL, SPREAD, some } from '../support/lane.ts';
import { inRunRoom, type RunRoom } from '../support/run-room.ts';
import { FAN_OUT, REVIEW } from '../support/run-scenarios.ts';
import type { Scenario } from '../support/scenario-parts.ts';
import { storedLedger } from '../support/stored-ledger.ts';
import { testHost } from '../support/test-host.ts';
import { stateOf } from '../support/state.ts';

function endsOf(board: Board): string[] {
  return [...board.tasks.values()].map((state) => {
    const { phase, round } = state.work;
    return `${state.task.id} ${phase.at === 'ended' ? `${phase.as}: ${phase.why}` : statusOf(state, board)}, round ${round}`;
  });
}

/** Forks the room's run at each of its events, or some of them, in its own ledger. */
function forkEverywhere(room: RunRoom, most: number): number {
  const directory = stateOf(room.repository);
  const composition = compose(testHost(room.root));
  const ledger = openLedger(directory, { clock: composition.clock });
  try {
    const [row] = ledger.runs();
    const definition = row && findDefinition(ledger, row);
    if (row === undefined || definition === undefined) throw new Error('there is no run');
    const events = ledger.events({ stream: row.id });
    const known = events.map(({ seq }) => momentAt(events, seq));
    const first = known.findIndex((moment) => moment !== undefined);
    expect(known.slice(first)).not.toContain(undefined);
    expect(events.slice(0, first).map(({ type }) => type)).toEqual(['run-created', 'lease-acquired']);
    const moments = [...new Set(known.slice(first))].flatMap((moment) => moment ?? []);
    for (const seq of some(moments, most)) {
      const plan = planFork(definition, events, seq);
      const found = new Set([...plan.needed, ...plan.work.pins, ...plan.work.kept.map(({ commit }) => commit)]);
      const { id } = ledger.fork(newFork(composition, { name: `f-${seq}`, definition, parent: row.id, plan, found }));
      const { board, parent, totals, questions } = readRun(ledger, id, null);
      expect({ seq, live: [...board.tasks.values()].flatMap(({ work }) => liveAttempts(work)) }).toEqual({
        seq,
        live: [],
      });
      const untouched = endsOf(plan.board).filter((line) => !/ (?:live|stopping)/.test(line));
      expect(endsOf(board)).toEqual(expect.arrayContaining(untouched));
      expect(parent).toEqual({ runId: row.id, name: row.name, seq });
      expect(totals.turnsClaimed).toBe(0);
      // Whoever is asked by mail is asked in the fork's own mail.
      const own = [...board.mail.keys()].filter((mail) => !mail.startsWith('key:'));
      expect(own.filter((mail) => plan.board.mail.has(mail) || ledger.mail.deliveries(mail).length === 0)).toEqual([]);
      expect(questions.every(({ recorded }) => recorded === null)).toBe(true);
    }
    return moments.length;
  } finally {
    ledger.close();
  }
}

async function expectForksEverywhere(scenario: Scenario, most: number): Promise<void> {
  await inRunRoom(scenario, async (room) => {
    const ended = await room.begin().finished;
    expect(ended.code, ended.stderr).toBe(0);
    expect(forkEverywhere(room, most)).toBeGreaterThan(8);
    const { problems, violations } = checkLedger(ledgerPath(stateOf(room.repository)));
    expect([...problems, ...violations]).toEqual([]);
  });
}

it('a fork at any event of a run is a valid run of its own', { ...SPREAD, timeout: 240_000 }, async () => {
  await expectForksEverywhere(REVIEW, 4);
});

it.each(some([FAN_OUT, COUNCIL], 0, 1))('so is one of $name', { ...ALL, timeout: 240_000 }, async (scenario) => {
  await expectForksEverywhere(scenario, Infinity);
});

it('a run whose engine was killed is forked like any other', () => {
  const { directory } = storedLedger();
  const composition = compose(testHost(join(directory, '..')));
  const ledger = openLedger(directory, { clock: composition.clock });
  try {
    const [row] = ledger.runs();
    const definition = row && findDefinition(ledger, row);
    if (row === undefined || definition === undefined) throw new Error('there is no run');
    const events = ledger.events({ stream: row.id });
    const planAt = (seq: number) => planFork(definition, events, momentAt(events, seq) ?? 0);
    // Both pieces were in work, and later one had been handed in and looked at.
    expect(planAt(35).ends.map(({ task }) => task)).toEqual(['left', 'right']);
    const plan = planAt(events.at(-1)?.seq ?? 0);
    expect(plan.inputs).toMatchObject([{ task: 'left', event: { type: 'evidence-gathered', facts: { commits: 1 } } }]);
    const fork = newFork(composition, {
      name: 'second',
      definition,
      parent: row.id,
      plan,
      found: new Set(plan.needed),
    });
    const { board } = readRun(ledger, ledger.fork(fork).id, null);
    expect([...board.tasks.values()].flatMap(({ work }) => liveAttempts(work))).toEqual([]);
  } finally {
    ledger.close();
  }
  const { problems, violations } = checkLedger(ledgerPath(directory));
  expect([...problems, ...violations]).toEqual([]);
});
