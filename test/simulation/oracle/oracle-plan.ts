import { runDefinitionSchema, type BoundAgent, type RunDefinition } from '../../../src/model/run.ts';
import { BUILT_IN_RUNTIMES } from '../../../src/model/runtime-name.ts';
import type { StallFallback } from '../../../src/model/plan/work.ts';
import { documentPath, objectiveOptions } from '../../support/objective-documents.ts';
import { draw, drawInt, drawOf } from '../world/draw.ts';
import type { Crash, WorldPlan } from '../world/simulated-world.ts';
import type { Stage } from '../world/stage.ts';
import { oracleCast } from './oracle-cast.ts';
import { newRecord, type WorldRecord } from './record.ts';
import { answerOf, letPeopleIn } from './strangers.ts';

const MINUTE = 60_000;

type PlaybookName = 'delivery' | 'council' | 'objective';

/** How things go in one world; numbers are shares of all turns. */
export interface Weather {
  readonly playbook: PlaybookName;
  readonly pieces: number;
  readonly failures: number;
  readonly rejections: number;
  /** Says that it is done, and did nothing. */
  readonly lies: number;
  readonly walls: number;
  readonly mail: number;
  /** Times that people say something about a task, or add work. */
  readonly words: number;
  /** Times that a stranger moves the run branch. */
  readonly moves: number;
  /** Moves at the worst moments: while the result is judged or checked. */
  readonly ambush: number;
  /** Nothing is wrong but that branches move and engines die: the run has to end as done. */
  readonly calm: boolean;
}

export interface OraclePlan extends WorldPlan {
  readonly weather: Weather;
  readonly record: WorldRecord;
}

/** Everything about one run, drawn from its seed, with an empty record of it. */
export function oraclePlan(seed: number): OraclePlan {
  const weather = weatherOf(seed);
  const record = newRecord();
  const definition = definitionOf(seed, weather);
  let stage: Stage | undefined;
  return {
    seed,
    weather,
    record,
    wall: Date.UTC(2026, 10, 20, 12),
    definition,
    cast: (_time, given) => {
      stage = given;
      const people = letPeopleIn(seed, weather, given, record, definition.agents);
      return oracleCast({ seed, weather, stage: given, record, definition, people });
    },
    crashes: crashesOf(seed, weather),
    clockFaults: [],
    gitMs: drawOf([0, 20, 400], seed, 'git takes'),
    answer: (question, options, time) => {
      const answer = answerOf({ seed, weather, stage, question, options, time });
      record.answers.push({ question, answer });
      return answer;
    },
    most: 24 * 60 * MINUTE,
  };
}

function weatherOf(seed: number): Weather {
  const calm = draw(seed, 'calm') < 0.35;
  const some = (choices: readonly [number, ...number[]], name: string): number =>
    calm ? 0 : drawOf(choices, seed, name);
  return {
    calm,
    playbook: drawOf(['delivery', 'delivery', 'delivery', 'council', 'council', 'objective'], seed, 'playbook'),
    pieces: drawInt(1, 3, seed, 'pieces'),
    failures: some([0, 0, 0.05, 0.15], 'failures'),
    rejections: some([0, 0, 0.15, 0.4], 'rejections'),
    lies: some([0, 0, 0.05], 'lies'),
    walls: some([0, 0, 0.1, 0.25], 'walls'),
    mail: drawOf([0, 0.1, 0.3], seed, 'mail'),
    words: some([0, 0, 1, 2, 3], 'words'),
    moves: drawOf([0, 1, 1, 2], seed, 'moves'),
    ambush: drawOf([0, 0, 0.2, 0.5], seed, 'ambush'),
  };
}

function definitionOf(seed: number, weather: Weather): Omit<RunDefinition, 'repository'> {
  const { playbook } = weather;
  const { repository: _, ...definition } = runDefinitionSchema.parse({
    version: 1,
    name: 'simulated',
    source: 'objective.md',
    objective: {
      title: 'Simulated',
      goals: ['finish'],
      criteria: criteriaOf(seed, weather),
      constraints: [],
      context: '',
      text: playbook === 'council' ? '# Simulated\n\ndocs/design.md is right.\n' : '# Simulated\n',
    },
    playbook,
    options: playbook === 'objective' ? objectiveOptions(4) : {},
    agents: teamOf(seed, playbook),
    runtimes: {},
    limits: {
      parallel: drawInt(1, 4, seed, 'parallel'),
      turns: 1_000,
      minutes: 20_000,
      usd: 100_000,
      ...(weather.walls > 0 ? { walls: wallsOf(seed) } : {}),
    },
    setup: [],
    verify: verifyOf(seed, weather).map((run) => ({ run })),
    strict: draw(seed, 'strict') < 0.3,
    repository: { root: '/', base: '' },
    trusted: null,
  });
  return definition;
}

function wallsOf(seed: number): StallFallback[] {
  return drawOf<StallFallback[]>([['skip'], ['retry', 'skip'], ['retry', 'workspace-reset', 'fail']], seed, 'ways out');
}

/** Of all kinds: without a command, always true, never true, true once a file is there or as long as one is not. */
function criteriaOf(seed: number, { playbook, calm }: Weather) {
  return Array.from({ length: drawInt(0, 3, seed, 'criteria') }, (_, index) => {
    const work = { delivery: 't1.txt', council: 'docs/design.md', objective: documentPath('simulated', 'spec') }[
      playbook
    ];
    const command = drawOf(
      [
        undefined,
        undefined,
        undefined,
        'true',
        `test -f ${work}`,
        ...(calm ? [] : ['false', 'test -f fix-1.txt', 'test -f fix-1.txt', '! test -f theirs.txt', 'test -f t9.txt']),
      ] as const,
      seed,
      'criterion',
      index,
    );
    // A council in which nobody finds fault with the document leaves it as it is.
    const kind = calm && playbook === 'council' && command !== undefined ? 'true' : command;
    return {
      text: `criterion ${index}`,
      done: false,
      line: index + 1,
      ...(kind === undefined ? {} : { command: kind }),
    };
  });
}

function verifyOf(seed: number, { calm }: Weather): string[] {
  if (draw(seed, 'verify') < 0.6) return [];
  const other = calm
    ? 'test -f readme.md'
    : drawOf(['true', 'true', '! test -f theirs.txt', 'false'], seed, 'verify with');
  return draw(seed, 'two verifies') < 0.3 ? ['test -f readme.md', other] : [other];
}

function teamOf(seed: number, playbook: PlaybookName): BoundAgent[] {
  switch (playbook) {
    case 'delivery': {
      const committer = draw(seed, 'committer') < 0.15;
      const builders = Array.from({ length: drawInt(1, 3, seed, 'builders') }, (_, index) =>
        agent(seed, `builder-${index + 1}`, 'builder', !committer),
      );
      return [
        ...builders,
        ...(draw(seed, 'planner') < 0.5 ? [agent(seed, 'planner', 'planner')] : []),
        ...(draw(seed, 'reviewer') < 0.75 ? [agent(seed, 'reviewer-1', 'reviewer')] : []),
        ...(draw(seed, 'reviewers') < 0.3 ? [agent(seed, 'reviewer-2', 'reviewer')] : []),
        ...(committer ? [agent(seed, 'committer', 'committer')] : []),
        ...(draw(seed, 'tester') < 0.25 ? [agent(seed, 'tester', 'tester')] : []),
      ];
    }
    case 'council':
      return [
        agent(seed, 'main', 'main'),
        ...['a', 'b', 'c'].slice(0, drawInt(1, 3, seed, 'members')).map((name) => agent(seed, name, 'member')),
      ];
    case 'objective':
      return [
        ...['pm', 'ba', 'builder', 'reviewer'].map((role) => agent(seed, role, role)),
        ...(draw(seed, 'two builders') < 0.5 ? [agent(seed, 'builder-2', 'builder')] : []),
      ];
  }
}

function agent(seed: number, name: string, role: string, commits = true): BoundAgent {
  const runtime = drawOf(BUILT_IN_RUNTIMES, seed, 'runtime', name);
  return {
    name,
    role,
    runtime,
    access: { level: 'edit' },
    instructions: `You are ${name}.`,
    account: runtime,
    ...(commits ? {} : { commits: false }),
  };
}

function crashesOf(seed: number, { calm }: Weather): Crash[] {
  const count = draw(seed, 'crashes') < 0.5 ? 0 : drawInt(1, 3, seed, 'how many');
  return Array.from({ length: count }, (_, index): Crash => {
    return {
      effect: drawInt(1, 150, seed, 'effect', index),
      when: drawOf(['before', 'after'], seed, 'when', index),
      downMs: drawOf([0, 500, 20_000], seed, 'down', index),
      reboot: !calm && draw(seed, 'reboot', index) < 0.2,
    };
  });
}
