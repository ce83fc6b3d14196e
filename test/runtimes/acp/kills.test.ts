// @module-tag all
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FailpointName } from '../../../src/substrate/system/failpoint.ts';
import {
  ABOUT_TO_ASK,
  ACP_RUN,
  ACP_RUN_WITH_PERSON,
  asksPerson,
  sayYes,
  askedIn,
  IN_TOOL,
  acpHosts,
  letAsk,
  promptsIn,
  wasSaid,
} from '../../support/acp-run.ts';
import { allowedMs } from '../../support/busy-machine.ts';
import { reportTrials } from '../../support/chaos-row.ts';
import { fakeAcpNotes } from '../../support/fake-acp-agent.ts';
import { pidsOf, type InsidePid } from '../../support/inside-pids.ts';
import type { Scenario } from '../../support/scenario-parts.ts';
import { ALL, SPREAD, spread } from '../../support/lane.ts';
import { markedPids } from '../../support/marked-pids.ts';
import {
  driveToEnd,
  endStateOf,
  expectUnharmed,
  inRunRoom,
  type Death,
  type EndState,
  type RunRoom,
} from '../../support/run-room.ts';

const TRIALS = Number(process.env['SQUAD_CHAOS_TRIALS'] ?? spread(1, 3));
const WIDTH = 2;
const MINUTES = 60_000;
/** Longest time that a request may wait for its answer, and that processes may outlive their host. */
const ANSWERED_MS = 1000;
const GONE_MS = 10_000;

const TURN_STARTS: readonly FailpointName[] = ['turn.files-written', 'process.spawned', 'process.before-go'];
const TURN_ENDS: readonly FailpointName[] = ['turn.ended', 'attempt.before-settle', 'attempt.settled'];

interface Reference {
  readonly end: EndState;
  readonly passes: ReadonlyMap<string, number>;
}
let reference: Reference;

beforeAll(async () => {
  reference = await record(ACP_RUN);
}, 3 * MINUTES);

async function record(scenario: Scenario): Promise<Reference> {
  return inRunRoom(scenario, async (room) => {
    letAsk(room);
    const answering = setInterval(() => sayYes(room), 20);
    const trace = join(room.root, 'trace');
    const { last } = await driveToEnd(room, [{ SQUAD_FAILPOINTS: `trace=${trace}` }]);
    clearInterval(answering);
    expect(last.code, `${last.stdout}${last.stderr}`).toBe(0);
    expectUnharmed(room);
    expectAnswered(room);
    const passes = new Map<string, number>();
    for (const point of readFileSync(trace, 'utf8').split('\n')) passes.set(point, (passes.get(point) ?? 0) + 1);
    expect(promptsIn(room)).toBe(1);
    return { end: endStateOf(room), passes };
  });
}

/** Every request has its one answer, in time. */
function expectAnswered(room: RunRoom): void {
  const asked = askedIn(room);
  const requests = asked.filter(({ at }) => at !== undefined);
  const answers = asked.filter(({ answerTo }) => answerTo !== undefined);
  expect(requests.length).toBeGreaterThan(0);
  expect(answers.length).toBe(requests.length);
  if (room.scenario === ACP_RUN_WITH_PERSON) return;
  expect(Math.max(...answers.map(({ tookMs = Infinity }) => tookMs))).toBeLessThan(allowedMs(ANSWERED_MS));
}

/** So many trials, each in a room of its own; what breaks is collected. */
async function trials(fault: string, one: (trial: number) => Promise<void>): Promise<void> {
  const failures: string[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let trial = next; trial < TRIALS; trial = next) {
      next += 1;
      await one(trial).catch((error: unknown) => failures.push(`trial ${trial}: ${String(error)}`));
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, lane));
  reportTrials({ fault, trials: TRIALS, failures: failures.length, bound: '0 failures' });
  expect(failures).toEqual([]);
}

/** A run whose engine dies once, and which ends as if it had not. */
async function survives(
  death: Death,
  environment: Record<string, string> = {},
  { before = letAsk, scenario = ACP_RUN, like = reference } = {},
): Promise<void> {
  await inRunRoom(scenario, async (room) => {
    before(room);
    const { last, killed } = await driveToEnd(room, [environment], [death]);
    expect(killed, 'engines killed').toBe(1);
    expect(last.code, `${last.stdout}${last.stderr}`).toBe(0);
    expect(endStateOf(room)).toEqual(like.end);
    expect(promptsIn(room), 'prompts').toBe(1);
    expectUnharmed(room);
    expectAnswered(room);
  });
}

/** SIGKILL as soon as this is so, and then `more`. */
function deathWhen(holds: (room: RunRoom) => boolean, more: (room: RunRoom) => void = () => undefined): Death {
  return ({ child, finished }, room) => {
    const timer = setInterval(() => {
      if (!holds(room)) return;
      clearInterval(timer);
      child.kill('SIGKILL');
      void finished.then(() => more(room));
    }, 5);
    void finished.then(() => clearInterval(timer));
  };
}

describe(`T1 an engine with an ACP agent, killed ${TRIALS} times`, { ...SPREAD, timeout: 20 * MINUTES }, () => {
  it.each<[string, readonly FailpointName[]]>([
    ['before the agent is there', TURN_STARTS],
    ['after the result', TURN_ENDS],
  ])('%s: the run ends as if it had not been', ALL, async (when, points) => {
    await trials(`T1 an ACP agent’s engine killed ${when}`, async (trial) => {
      const point = points[trial % points.length]!;
      const pass = 1 + (Math.floor(trial / points.length) % (reference.passes.get(point) ?? 1));
      await survives(undefined, { SQUAD_FAILPOINTS: `${point}:${pass}=kill` });
    });
  });

  it('before a permission request: it is answered without an engine', ALL, async () => {
    await trials('T1 an ACP agent’s engine killed before a request', () =>
      survives(
        deathWhen((room) => wasSaid(room, ABOUT_TO_ASK), letAsk),
        {},
        { before: () => undefined },
      ),
    );
  });

  it('in a tool: the turn is adopted', async () => {
    await trials('T1 an ACP agent’s engine killed in a tool', () =>
      survives(deathWhen((room) => wasSaid(room, IN_TOOL))),
    );
  });

  it('while a request waits for a person: the answer that comes without an engine counts', ALL, async () => {
    const withPerson = await record(ACP_RUN_WITH_PERSON);
    await trials('T1 an ACP agent’s engine killed in an open request', () =>
      survives(deathWhen(asksPerson, sayYes), {}, { scenario: ACP_RUN_WITH_PERSON, like: withPerson }),
    );
  });
});

it(
  `T1 the host of an ACP agent, killed ${TRIALS} times: nothing of the turn is left, and another turn does the work`,
  { ...SPREAD, timeout: 20 * MINUTES },
  async () => {
    await trials('T1 the host of an ACP agent killed', () =>
      inRunRoom(ACP_RUN, async (room) => {
        letAsk(room);
        let gone: Promise<number[]> | undefined;
        const death = killHost(room, (left) => {
          gone = left;
        });
        const { last, killed } = await driveToEnd(room, [], [death]);
        expect([last.code, killed], `${last.stdout}${last.stderr}`).toEqual([0, 0]);
        expect(await gone).toEqual([]);
        const turns = room.reading()?.attempts.filter(({ attempt }) => attempt.runtime === 'acp/fake') ?? [];
        const ends = turns.map(({ settlement }) => settlement?.result.failure?.kind ?? settlement?.result.outcome);
        expect(ends).toEqual([expect.stringMatching(/^(?:lost|crashed)$/), 'completed']);
        const { counted, tree } = endStateOf(room);
        expect({ counted, tree }).toEqual({
          counted: { ...reference.end.counted, turns: reference.end.counted.turns + 1 },
          tree: reference.end.tree,
        });
        expectUnharmed(room);
      }),
    );
  },
);

/** SIGKILL of the host in the agent's first tool; `then` gets what lives of its turn once it has had its time. */
function killHost(room: RunRoom, then: (left: Promise<number[]>) => void): Death {
  return ({ finished }) => {
    const timer = setInterval(() => {
      if (!wasSaid(room, IN_TOOL)) return;
      const [host] = acpHosts(room.repository);
      if (host === undefined) return;
      clearInterval(timer);
      process.kill(host.pid, 'SIGKILL');
      then(leftOf(room, host.turn));
    }, 5);
    void finished.then(() => clearInterval(timer));
  };
}

async function leftOf({ root }: RunRoom, turn: string): Promise<number[]> {
  const started = fakeAcpNotes(join(root, 'state'), 'pids.jsonl').map((line) => JSON.parse(line) as InsidePid);
  const alive = (): number[] => [...markedPids(turn), ...pidsOf(started).filter((pid) => pid !== 0)];
  const deadline = performance.now() + allowedMs(GONE_MS);
  while (alive().length > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
  return alive();
}
