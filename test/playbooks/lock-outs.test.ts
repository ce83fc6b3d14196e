import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { isOfAgent, LOCK_OUT_KINDS, type LockOutKind } from '../../src/model/plan/lock-out.ts';
import { lockOutAskedAbout } from '../../src/rules/logins.ts';
import type { PlanNews } from '../../src/model/plan/event.ts';
import type { Board, Member } from '../../src/model/plan/board.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import { newTask } from '../rules/support.ts';
import { SPREAD, spread } from '../support/lane.ts';
import { factsOf, type failed, foldPlan, member, simulate, type Played, type Turn } from './simulator.ts';

const RUNTIMES = ['claude', 'codex', 'gemini'] as const;
const ROLES = ['planner', 'builder', 'builder', 'reviewer', 'chair', 'member', 'coordinator'] as const;

interface Team {
  /** The runtime of each agent, in the order of `ROLES`. */
  readonly on: readonly string[];
  /** What does not work, and how. */
  readonly broken: Readonly<Record<string, LockOutKind>>;
  /** The settings of one agent do not fit its own runtime. */
  readonly odd: { readonly index: number; readonly kind: LockOutKind } | undefined;
  /** By runtime. */
  readonly fallbacks: Readonly<Record<string, string>>;
  /** Which of the tasks name their agent. */
  readonly named: readonly boolean[];
  readonly dice: readonly number[];
}

const name = fc.constantFrom(...RUNTIMES);

const teams: fc.Arbitrary<Team> = fc.record({
  on: fc.array(name, { minLength: ROLES.length, maxLength: ROLES.length }),
  broken: fc.dictionary(name, fc.constantFrom(...LOCK_OUT_KINDS.filter((kind) => !isOfAgent(kind))), { maxKeys: 2 }),
  odd: fc.option(
    fc.record({ index: fc.nat(ROLES.length - 1), kind: fc.constantFrom(...LOCK_OUT_KINDS.filter(isOfAgent)) }),
    { nil: undefined },
  ),
  fallbacks: fc
    .dictionary(name, name)
    .map((all) => Object.fromEntries(Object.entries(all).filter(([from, to]) => from !== to))),
  named: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
  dice: fc.array(fc.nat(20), { minLength: 5, maxLength: 5 }),
});

function rosterOf({ on }: Team): Member[] {
  return ROLES.map((role, index) => member(`${role}-${index}`, role, { account: on[index]! }));
}

/** Work of every role: some of it needs other work, some is reviewed. */
function tasksOf({ named }: Team): NewTask[] {
  const review = { quorum: 'all' as const, rounds: 3, criteria: ['works'] };
  const tasks = [
    newTask('plan', { role: 'planner', integrate: false, requires: [] }),
    newTask('a', { needs: ['plan'], review: { ...review, by: ['reviewer'] } }),
    newTask('b', { needs: ['plan'], review: { ...review, by: ['member', 'reviewer'] } }),
    newTask('c', { needs: ['a', 'b'], role: 'chair', integrate: false, requires: [] }),
    newTask('d', { needs: ['plan'], role: 'coordinator', session: 'agent', integrate: false, requires: [] }),
    newTask('e', { needs: ['d'], role: 'builder' }),
  ];
  return tasks.map((task, index) => {
    const agent = ROLES.findIndex((role) => role === task.role);
    return named[index] === true ? { ...task, agent: `${ROLES[agent]}-${agent}` } : task;
  });
}

const COMMAND = /`(squad switch [^`]*)`/g;

/** Plays it. A person types what the first open question names, as soon as it is open. */
function play(team: Team): { played: Played; asked: string[] } {
  const asked: string[] = [];
  let answered: readonly string[] = [];
  let dice = 0;
  const outside = ({ questions }: Board): readonly PlanNews[] => {
    const open = [...questions.values()].filter(({ answer }) => answer === null);
    // The commands have helped everyone: nothing is asked again for the same cause.
    expect(open.map(({ id }) => id).filter((id) => answered.includes(id))).toEqual([]);
    answered = open.map(({ id }) => id);
    const [first] = open;
    if (first === undefined) return [];
    // Another runtime has turned out not to work.
    expect(answered.filter((id) => !asked.includes(id))).not.toEqual([]);
    asked.push(...answered);
    const commands = [...first.text.matchAll(COMMAND)].map(([, command]) => command!);
    expect(commands.length, first.text).toBeGreaterThan(0);
    return commands.map(switchOf);
  };
  const turn = (about: Turn): ReturnType<typeof failed> | undefined => {
    const kind = failureOf(about, team);
    return kind === undefined
      ? undefined
      : { outcome: 'failed', failure: { kind, message: kind, mayHaveActed: false } };
  };
  const played = simulate({
    facts: {
      ...factsOf(rosterOf(team)),
      runtimes: Object.fromEntries(RUNTIMES.map((one) => [one, {}])),
      fallbacks: team.fallbacks,
    },
    plan: tasksOf(team).map((task) => ({ do: 'add-task', task }) as const),
    script: { turn, outside, choose: () => team.dice[(dice += 1) % team.dice.length]! },
  });
  return { played, asked };
}

function failureOf(
  { agent, account }: Pick<Turn, 'agent' | 'account'>,
  { broken, odd, on }: Team,
): LockOutKind | undefined {
  const isOdd = odd !== undefined && agent === `${ROLES[odd.index]}-${odd.index}` && account === on[odd.index];
  return broken[account] ?? (isOdd ? odd.kind : undefined);
}

function switchOf(command: string): PlanNews {
  const [, , runtime = '', ...options] = command.split(' ');
  const scopes = options.flatMap((option, index) =>
    option.startsWith('--') ? [`${option.slice(2)}/${options[index + 1]}`] : [],
  );
  const [on = '', ...also] = scopes;
  return { type: 'intervention', by: 'eve', intervention: { verb: 'switch', on, also, runtime } };
}

/** Whether one of those that stand in for it, one after the other, works for the agent. */
function isCovered(agent: string, runtime: string, team: Team): boolean {
  const seen = new Set<string>();
  for (let next: string | undefined = runtime; next !== undefined && !seen.has(next); next = team.fallbacks[next]) {
    if (failureOf({ agent, account: next }, team) === undefined) return true;
    seen.add(next);
  }
  return false;
}

/** Whether each agent could work somewhere. */
function hasPlaces(team: Team): boolean {
  return ROLES.every((role, index) =>
    RUNTIMES.some((account) => failureOf({ agent: `${role}-${index}`, account }, team) === undefined),
  );
}

const trials = { numRuns: spread(150, 3_000, 500) };

describe('a team of any kind, of which some runtimes do not work', SPREAD, () => {
  test.prop([teams], trials)('is asked about nothing if a stand-in works', (team) => {
    fc.pre(ROLES.every((role, index) => isCovered(`${role}-${index}`, team.on[index]!, team)));
    const { played, asked } = play(team);
    expect(asked).toEqual([]);
    expect(played.board.questions.size).toBe(0);
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    // Each turn that was done in place of another account is on record.
    const stoodIn = [...played.board.tasks.values()].flatMap(({ work }) => work.standIns);
    const worked = played.turns.filter((turn) => turn.insteadOf !== undefined && failureOf(turn, team) === undefined);
    for (const { agent, account, insteadOf } of worked) {
      expect(stoodIn).toContainEqual(expect.objectContaining({ agent, account, insteadOf }));
    }
    expect(stoodIn.length > 0).toBe(worked.length > 0);
  });

  test.prop([teams], trials)('is finished by the commands that its questions name', (team) => {
    fc.pre(hasPlaces(team));
    const { played, asked } = play(team);
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    expect(asked.every((id) => lockOutAskedAbout(id) !== undefined)).toBe(true);
  });

  test.prop([teams], trials)('has the same board again from its entries', (team) => {
    fc.pre(hasPlaces(team));
    const { played } = play(team);
    expect(foldPlan(played.board.facts, played.entries)).toEqual(played.board);
  });
});
