import { defined } from '../text/defined.ts';
import { DEFAULT_PLAN_LIMITS, type Member, type RunFacts } from '../model/plan/board.ts';
import { MORE_TASKS } from '../model/playbook-name.ts';
import type { BoundAgent, RunDefinition } from '../model/run.ts';

/** The part of a run's definition that its plan uses. The board is folded over it, so it never changes during a run. */
export function factsOf(definition: RunDefinition): RunFacts {
  const {
    objective,
    options,
    agents,
    runtimes,
    judges,
    limits,
    setup,
    verify,
    repository,
    began,
    mail,
    plan,
    baseline,
  } = definition;
  const { criteria, doubtful } = began ?? { ...objective, doubtful: definition.doubtful };
  return {
    objective: {
      title: objective.title,
      goals: objective.goals,
      criteria: criteria.map(({ text, command }) => (command === undefined ? { text } : { text, command })),
      constraints: objective.constraints,
      context: objective.context,
      ...defined({ priority: objective.priority, deadline: objective.deadline }),
      ...(definition.repositories === undefined ? {} : { repositories: namesOf(definition.repositories) }),
      text: objective.text,
    },
    options,
    roster: agents.map(memberOf),
    judges,
    ...fallbacksOf(runtimes),
    runtimes: definition.described,
    limits: {
      ...DEFAULT_PLAN_LIMITS,
      tasks: DEFAULT_PLAN_LIMITS.tasks + (MORE_TASKS[definition.playbook] ?? 0),
      rounds: limits.reviewRounds,
      retries: limits.retries,
      stallFallbacks: limits.walls,
    },
    prepares: began?.prepares ?? setup.length > 0,
    verifies: began?.verifies ?? verify.length > 0,
    commands: began?.commands ?? verify.map(({ run }) => run),
    ...(baseline === undefined || baseline === 'off' || definition.makesBranch === false ? {} : { baseline }),
    ...defined({ doubtful }),
    ...(plan === 'ask' ? { asksForPlan: true } : {}),
    ...defined({ looks: definition.looks }),
    base: repository.base,
    locale: mail.locale,
    ...defined({ routes: mail.routes, prompts: definition.prompts }),
  };
}

function namesOf({ others }: RunDefinition['repositories'] & {}): string[] {
  return others.map(({ name }) => name);
}

function fallbacksOf(runtimes: RunDefinition['runtimes']): Pick<RunFacts, 'fallbacks'> {
  const fallbacks = Object.entries(runtimes).flatMap(([name, { fallback }]) =>
    fallback === undefined ? [] : [[name, fallback] as const],
  );
  return fallbacks.length === 0 ? {} : { fallbacks: Object.fromEntries(fallbacks) };
}

function memberOf({ name, role, account, access, commits = true, limits }: BoundAgent): Member {
  const isReadOnly = access.level === 'read-only';
  return {
    name,
    role,
    account,
    commits: commits && !isReadOnly,
    ...(isReadOnly ? { readOnly: true } : {}),
    ...defined({ capacity: limits?.parallel }),
  };
}
