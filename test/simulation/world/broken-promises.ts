import { createBoard } from '../../../src/rules/board.ts';
import { engineTime } from '../../../src/model/spending.ts';
import { foldEntry } from '../../../src/rules/plan-step.ts';
import { factsOf } from '../../../src/rules/run-facts.ts';
import type { Board } from '../../../src/model/plan/board.ts';
import { planEntrySchema } from '../../../src/model/plan/entry.ts';
import type { AgentRequest } from '../../../src/model/plan/work.ts';
import { RUN_EVENTS } from '../../../src/model/run.ts';
import { isJsonObject } from '../../../src/text/json.ts';
import type { WorldEnd } from './simulated-world.ts';

/** A turn that runs when the minutes are over may end by itself for so long, and then has to be ended. */
const GRACE_MS = 70_000;

/** Every promise that this world broke, in words; none for a good one. */
export function brokenPromises(world: WorldEnd): string[] {
  return [
    ...world.violations.map(({ rule, message }) => `${rule}: ${message}`),
    ...lostWork(world),
    ...boardRules(world),
    ...turnCaps(world),
    ...minutes(world),
    ...delivered(world),
  ];
}

/** What an agent ended by itself with is what the ledger has of it; each ran once, and none is left. */
function lostWork({ agents, reading, end }: WorldEnd): string[] {
  const settled = new Map(reading.attempts.map(({ attempt, settlement }) => [attempt.id, settlement?.result]));
  const ran = agents.ran();
  const twice = agents.starts.length - new Set(agents.starts.map(({ turnId }) => turnId)).size;
  const open = reading.attempts.filter(({ settlement }) => settlement === undefined);
  return [
    ...(twice > 0 ? [`${twice} agents ran twice`] : []),
    ...agents.running().map((turnId) => `${turnId} still runs`),
    ...(end.end === 'finished' ? open.map(({ attempt }) => `${attempt.id} is not settled`) : []),
    ...ran.flatMap(({ turnId, result, endedBy }) => {
      const known = settled.get(turnId);
      if (endedBy !== 'itself' || known === undefined || known.outcome === result.outcome) return [];
      return [`${turnId} ended ${result.outcome} and was settled as ${known.outcome}`];
    }),
  ];
}

/** Folds the plan again, entry by entry, and looks at every board on the way. */
function boardRules({ history, reading }: WorldEnd): string[] {
  const facts = factsOf(reading.definition);
  const found = new Set<string>();
  let board = createBoard(facts);
  for (const { type, cause, data, seq } of history.events) {
    if (type !== RUN_EVENTS.plan || cause === null) continue;
    const entry = planEntrySchema.parse(data);
    if (entry.entry === 'work' && entry.event.type === 'attempt-started') {
      for (const need of missingNeeds(board, entry.task)) {
        found.add(`${entry.event.attempt} was started at ${seq} before ${need} was delivered`);
      }
    }
    board = foldEntry(board, entry);
    for (const excess of excesses(board)) found.add(excess);
  }
  return [...found];
}

function missingNeeds(board: Board, task: string): string[] {
  return (board.tasks.get(task)?.task.needs ?? []).filter((need) => {
    const phase = board.tasks.get(need)?.work.phase;
    return phase?.at !== 'ended' || (phase.as !== 'done' && phase.as !== 'skipped');
  });
}

function excesses({ tasks, facts }: Board): string[] {
  const { retries, infrastructure, transient, rounds } = facts.limits;
  return [...tasks.values()].flatMap(({ task, work }) => {
    const slots = work.phase.at === 'reviewing' ? work.phase.slots : [];
    const requests: AgentRequest[] = [work.author, ...slots.map(({ request }) => request)];
    const spent = requests.flatMap(({ used }) => [
      ...(used.retries > retries ? [`${task.id}: ${used.retries} of ${retries} retries`] : []),
      ...(used.infrastructure > infrastructure ? [`${task.id}: ${used.infrastructure} faults of the machine`] : []),
      ...(used.transient > transient ? [`${task.id}: ${used.transient} faults of a server`] : []),
    ]);
    const most = task.review?.rounds ?? rounds;
    const judged = work.rounds.filter(({ round }) => round > most);
    return [...spent, ...judged.map(({ round }) => `${task.id}: round ${round} of ${most}`)];
  });
}

function turnCaps({ history, reading }: WorldEnd): string[] {
  const neverRan = history.events.filter(
    ({ type, data }) =>
      type === 'attempt-settled' &&
      isJsonObject(data) &&
      data['kind'] === 'turn' &&
      data['failure'] === 'never-started',
  ).length;
  const claimed = history.attempts.filter(({ kind }) => kind === 'turn').length - neverRan;
  return claimed > reading.limits.turns ? [`${claimed} of ${reading.limits.turns} turns`] : [];
}

function minutes({ reading }: WorldEnd): string[] {
  const used = engineTime(reading.segments);
  const cap = reading.limits.minutes * 60_000;
  return used > cap + GRACE_MS ? [`${used} ms of ${cap} ms`] : [];
}

/** What is called delivered is on the branch. */
function delivered({ reading, repository }: WorldEnd): string[] {
  const files = repository.filesOf(reading.definition.name);
  return [...reading.board.tasks.values()].flatMap(({ task, work }) => {
    const done = work.phase.at === 'ended' && work.phase.as === 'done';
    const document = task.requires.find((one) => one.kind === 'document');
    const file = document?.path ?? `${task.base ?? task.id}.txt`;
    if (!done || !task.integrate || work.commit === null || files.has(file)) return [];
    return [`${task.id} is done, and ${file} is not on the branch`];
  });
}
