import { isMissing } from './commands.ts';
import { limitsSchema } from '../../../src/model/limits.ts';
import { runDefinitionSchema, type RunDefinition } from '../../../src/model/run.ts';
import type { StallFallback } from '../../../src/model/plan/work.ts';
import { createSessionPlaybook } from '../../../src/playbooks/session/index.ts';
import { stagesOptions } from '../../../src/playbooks/stages/index.ts';
import { plainJson, type Json } from '../../../src/text/json.ts';
import { documentPath, objectiveOptions } from '../../support/objective-documents.ts';
import { draw, drawInt, drawOf } from '../world/draw.ts';
import type { Crash, WorldPlan } from '../world/simulated-world.ts';
import type { Stage } from '../world/stage.ts';
import { generatedList, isPlanned } from './lists.ts';
import { oracleCast } from './oracle-cast.ts';
import { newRecord, type WorldRecord } from './record.ts';
import { answerOf, letPeopleIn } from './strangers.ts';
import { drawnSession, teamOf } from './team.ts';
import { weatherOf, type Weather } from './weather.ts';

const MINUTE = 60_000;

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

function definitionOf(seed: number, weather: Weather): Omit<RunDefinition, 'repository'> {
  const { playbook } = weather;
  const criteria = criteriaOf(seed, weather);
  const doubtful = [...new Set(criteria.flatMap(({ command = '' }) => (isMissing(command) ? [command] : [])))];
  const { repository: _, ...definition } = runDefinitionSchema.parse({
    version: 1,
    name: 'simulated',
    source: 'objective.md',
    objective: {
      title: 'Simulated',
      goals: ['finish'],
      criteria,
      constraints: [],
      context: '',
      text: playbook === 'council' ? '# Simulated\n\ndocs/design.md is right.\n' : '# Simulated\n',
    },
    playbook,
    options: optionsOf(seed, weather),
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
    baseline: draw(seed, 'baseline') < 0.8 ? 'report' : 'off',
    ...(doubtful.length === 0 ? {} : { doubtful: { commands: doubtful, file: 'objective.md' } }),
    strict: draw(seed, 'strict') < 0.3,
    repository: { root: '/', base: '' },
    ...{ described: {}, judges: ['reviewer', 'member'], plan: 'auto' },
    trusted: null,
  });
  return definition;
}

/** What a criterion may ask for that work leaves. */
const WORK: Readonly<Record<Weather['playbook'], string>> = {
  delivery: 't1.txt',
  council: 'docs/design.md',
  objective: documentPath('simulated', 'spec') ?? '',
  stages: 'build.txt',
  session: 'impl-1.txt',
};

function optionsOf(seed: number, weather: Weather): Json {
  const limits = limitsSchema.parse({ reviewRounds: 4 });
  const source = {
    run: 'simulated',
    section: undefined,
    limits,
    publish: undefined,
    roles: [],
    objective: { criteria: [] },
  };
  switch (weather.playbook) {
    case 'objective':
      return objectiveOptions(4);
    case 'stages':
      return plainJson(stagesOptions(generatedList(seed, verifyOf(seed, weather, ' check')), source));
    case 'session':
      return createSessionPlaybook(drawnSession(seed)).options?.(source) ?? {};
    case 'delivery':
    case 'council':
      return {};
  }
}

/** Commands that say something else each time, and those that nothing can run. */
function badCommands({ flaky, missing }: Weather): BadCommand[] {
  return [
    ...(flaky ? (['flaky-check', 'flaky-check'] as const) : []),
    ...(missing ? (['npm run missing', 'no-such-program --all'] as const) : []),
  ];
}

type BadCommand = 'flaky-check' | 'npm run missing' | 'no-such-program --all';

function wallsOf(seed: number): StallFallback[] {
  return drawOf<StallFallback[]>([['skip'], ['retry', 'skip'], ['retry', 'workspace-reset', 'fail']], seed, 'ways out');
}

/** Of all kinds: without a command, always true, never true, true once a file is there or as long as one is not. */
function criteriaOf(seed: number, weather: Weather) {
  const { playbook, calm } = weather;
  return Array.from({ length: drawInt(0, 3, seed, 'criteria') }, (_, index) => {
    const work = playbook === 'stages' && isPlanned(seed) ? 't1.txt' : WORK[playbook];
    const command = drawOf(
      [
        undefined,
        undefined,
        undefined,
        'true',
        `test -f ${work}`,
        ...(calm ? [] : ['false', 'test -f fix-1.txt', 'test -f fix-1.txt', '! test -f theirs.txt', 'test -f t9.txt']),
        ...badCommands(weather),
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

/** `about`: more of them, for another place. */
function verifyOf(seed: number, weather: Weather, about = ''): string[] {
  const { calm } = weather;
  if (draw(seed, `verify${about}`) < 0.6 && !(weather.flaky || weather.missing)) return about === '' ? [] : ['true'];
  const other = calm
    ? 'test -f readme.md'
    : drawOf(['true', 'true', '! test -f theirs.txt', 'false', ...badCommands(weather)], seed, `verify with${about}`);
  return draw(seed, `two verifies${about}`) < 0.3 ? ['test -f readme.md', other] : [other];
}

function crashesOf(seed: number, { calm }: Weather): Crash[] {
  const count = draw(seed, 'crashes') < 0.5 ? 0 : drawInt(1, 3, seed, 'how many');
  return Array.from({ length: count }, (_, index): Crash => {
    return {
      effect: drawInt(1, draw(seed, 'late', index) < 0.3 ? 600 : 150, seed, 'effect', index),
      when: drawOf(['before', 'after'], seed, 'when', index),
      downMs: drawOf([0, 500, 20_000], seed, 'down', index),
      reboot: !calm && draw(seed, 'reboot', index) < 0.2,
    };
  });
}
