import { setTimeout as sleep } from 'node:timers/promises';
import type { FailpointName } from '../../src/substrate/system/failpoint.ts';
import type { Engine } from '../../test/support/engine.ts';
import type { AttemptReading } from '../../src/view/read-run.ts';
import { livingTurns, markedPids } from '../../test/support/marked-pids.ts';
import type { RunRoom } from '../../test/support/run-room.ts';
import { LABELS, WORK_MS, WRITERS } from './scenario.ts';
import { hasResult, turnsBegun, type Begun } from './turns.ts';
import { stateOf } from '../../test/support/state.ts';

/** Points in the order of their first pass, each with how often an uncrashed run passes it. */
export type Passes = ReadonlyMap<FailpointName, number>;

/** How one engine dies. */
export interface Strike {
  /** For people: where it was. */
  readonly at: string;
  readonly environment: Record<string, string>;
  /** Resolves when all that is to be killed was killed, or when the engine has ended by itself. */
  strike(engine: Engine, room: RunRoom): Promise<void>;
  /** Of what the killed engine left: was it the instant that is meant? Points are passed by checks too. */
  met(room: RunRoom): boolean;
}

export interface Fault {
  readonly name: string;
  readonly what: string;
  /** Agents die too: turns that are cut short have to be had again. */
  readonly killsAgents: boolean;
  /** Each place is another one, as far as there are any; then they come again. */
  strikeOf(place: number, random: () => number, passes: Passes): Strike;
}

const POLL_MS = 2;

export const FAULTS: readonly Fault[] = [
  {
    name: 'before-spawn',
    what: 'engine killed when a turn is on record, and before its process exists',
    killsAgents: false,
    strikeOf: (place, _, passes) => atPass(['attempt.claimed', 'turn.files-written'], place, passes, isClaimed),
  },
  {
    name: 'mid-turn',
    what: 'engine killed while an agent works',
    killsAgents: false,
    strikeOf: (place, random) => atWork(place, random, 'engine'),
  },
  {
    name: 'after-exit',
    what: 'engine killed after an agent’s exit, and before its result is on record',
    killsAgents: false,
    strikeOf: (place, random, passes) =>
      place % 2 === 0
        ? atWork(place / 2, random, 'engine once the agent has ended')
        : atPass(['turn.ended', 'attempt.before-settle'], (place - 1) / 2, passes, isUnsettled),
  },
  {
    name: 'mid-merge',
    what: 'engine killed between the parts of a delivery: merged, candidate made, branch moved',
    killsAgents: false,
    strikeOf: (place, _, passes) =>
      atPass(
        ['git.merged', 'git.candidate-made', 'operation.before-note', 'git.before-advance', 'git.advanced'],
        place,
        passes,
        () => true,
      ),
  },
  {
    name: 'mid-mail',
    what: 'engine killed while an agent that lives on writes a message: before it, and when it is on record and its turn is not',
    killsAgents: false,
    strikeOf: (place, random) => atMail(place, random),
  },
  {
    name: 'reboot',
    what: 'engine and all agents killed while an agent works',
    killsAgents: true,
    strikeOf: (place, random) => atWork(place, random, 'all'),
  },
];

/** squad kills itself there, so that each trial meets the very instant. */
function atPass(
  points: readonly FailpointName[],
  place: number,
  passes: Passes,
  met: (room: RunRoom) => boolean,
): Strike {
  const point = points[place % points.length] ?? 'ledger.after-commit';
  const known = passes.get(point) ?? 0;
  if (known === 0) throw new Error(`an uncrashed run does not pass ${point}`);
  const pass = 1 + (Math.floor(place / points.length) % known);
  return {
    at: `${point}:${pass}`,
    environment: { SQUAD_FAILPOINTS: `${point}:${pass}=kill` },
    strike: async ({ finished }) => void (await finished),
    met,
  };
}

type Victims = 'engine' | 'all' | 'engine once the agent has ended';

/** Of one kind of turn after the other, at a random instant of its work. */
function atWork(place: number, random: () => number, victims: Victims): Strike {
  const label = LABELS[place % LABELS.length] ?? 'plan';
  const ms = Math.round(random() * WORK_MS * 0.8);
  const outlived = victims === 'engine once the agent has ended';
  return {
    at: outlived ? `${label}, ended while the engine stood still` : `${label} + ${ms} ms`,
    environment: {},
    strike: async ({ child, finished }, room) => {
      const turn = (): Begun | undefined => turnsBegun(room).find((begun) => begun.label === label);
      while (isAlive(child) && turn() === undefined) await sleep(POLL_MS);
      await sleep(ms);
      if (outlived) {
        child.kill('SIGSTOP');
        while (isAlive(child) && markedPids(turn()?.id ?? '').length > 0) await sleep(POLL_MS);
      }
      child.kill('SIGKILL');
      if (victims === 'all') await killAgents(room);
      await finished;
    },
    met: outlived ? isUnsettled : () => true,
  };
}

/** Longer than an agent takes to send; an engine that stands still in the middle of a write keeps it waiting. */
const SENDING_MS = 5_000;
/** Each look opens the ledger. */
const LOOK_MS = 20;

/** At an instant before the message, or with the engine standing still until it is on record. */
function atMail(place: number, random: () => number): Strike {
  const label = WRITERS[Math.floor(place / 2) % WRITERS.length] ?? 'left';
  const isAfter = place % 2 === 0;
  const ms = Math.round(random() * WORK_MS);
  return {
    at: isAfter ? `${label}, its message sent while the engine stood still` : `${label} + ${ms} ms, before its message`,
    environment: {},
    strike: async ({ child, finished }, room) => {
      const turn = (): Begun | undefined => turnsBegun(room).find((begun) => begun.label === label);
      while (isAlive(child) && turn() === undefined) await sleep(POLL_MS);
      if (isAfter) {
        child.kill('SIGSTOP');
        const end = performance.now() + SENDING_MS;
        while (isAlive(child) && sentBy(room, turn()) === 0 && performance.now() < end) await sleep(LOOK_MS);
      } else await sleep(ms);
      child.kill('SIGKILL');
      await finished;
    },
    met: (room) => {
      const begun = turnsBegun(room).find((one) => one.label === label);
      const isOpen = turnsOf(room).some(
        ({ attempt, settlement }) => attempt.id === begun?.id && settlement === undefined,
      );
      return isOpen && sentBy(room, begun) === (isAfter ? 1 : 0);
    },
  };
}

/** How many messages of that turn are on record. */
function sentBy(room: RunRoom, turn: Begun | undefined): number {
  const ledger = room.ledger();
  try {
    return turn === undefined ? 0 : ledger.mail.sentBy(turn.id).length;
  } finally {
    ledger.close();
  }
}

function isAlive({ exitCode, signalCode }: Engine['child']): boolean {
  return exitCode === null && signalCode === null;
}

/** A turn is on record, and no process of it. */
function isClaimed(room: RunRoom): boolean {
  return turnsOf(room).some(({ attempt }) => attempt.status === 'claimed');
}

/** A turn has given its result, and it is not on record. */
function isUnsettled(room: RunRoom): boolean {
  return turnsOf(room).some(({ attempt, settlement }) => settlement === undefined && hasResult(room, attempt.id));
}

function turnsOf(room: RunRoom): readonly AttemptReading[] {
  return room.reading()?.attempts.filter(({ attempt }) => attempt.kind === 'turn') ?? [];
}

/** All that carry a marker of this run, and what these start meanwhile. */
async function killAgents(room: RunRoom): Promise<void> {
  for (let looks = 0; looks < 500; looks += 1) {
    const pids = livingTurns(stateOf(room.repository));
    if (pids.length === 0) return;
    for (const pid of pids) kill(pid);
    await sleep(POLL_MS);
  }
  throw new Error('agents survive SIGKILL');
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
