import type { OptionsSource, Parsed, Playbook, PlaybookSource } from '../../model/plan.ts';
import type { Member, Objective } from '../../model/plan/board.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { type Json, plainJson } from '../../text/json.ts';
import { defined } from '../../text/defined.ts';
import { withMail } from '../shared/mail.ts';
import { failRun } from '../shared/tasks.ts';
import { advance, NO_LIST, openStages } from './advance.ts';
import { schemasOf } from './answers.ts';
import { tasksProblems } from './plan-tasks.ts';
import { planningOf } from './planning.ts';
import { rolesOf, staffProblems } from './roles.ts';
import type { StageList } from './stage-list.ts';
import { mailOfStages } from './mail-of-stages.ts';
import { optionsOf, type StagesOptions } from './stage-options.ts';
import { stageViews } from './stage-views.ts';

interface StagesInput {
  readonly objective: Objective;
  readonly roster: readonly Member[];
  readonly options: Json;
}

/** A list, and what a playbook of it says of its people and settings. */
export interface StagesSource extends Partial<
  Pick<Playbook<unknown>, 'roles' | 'otherRoles' | 'cast' | 'settings' | 'options' | 'schemas' | 'tools'>
> {
  readonly name: string;
  /** A run plays the list that it is frozen with. */
  readonly list: StageList;
}

/** Plays a list of stages. Where the next step leads follows from the list and from what has ended. */
export function createStagesPlaybook(source: StagesSource): Playbook<StagesInput> {
  const { name, list, roles = rolesOf(list), otherRoles, cast, settings } = source;
  const playbook: Playbook<StagesInput> = {
    name,
    roles,
    ...defined({ otherRoles, cast, settings, planning: planningOf(list) }),
    options: source.options ?? ((from) => plainJson(stagesOptions(list, from))),
    schemas: { ...schemasOf(list), ...source.schemas },
    // Before the work is reviewed: a review of a plan that cannot be used would be paid for nothing.
    checkAnswer: (schema, answer) => answerProblems(list, schema, answer),
    parse: (about) => parse(list, about),
    plan,
    advance,
    stages: stageViews,
    tools: source.tools ?? (() => ['ask', 'send', 'report', 'handoff', 'fail']),
    routes: () => 'everybody',
  };
  return {
    ...withMail(playbook),
    advance: (view, event) => {
      const options = optionsOf(view);
      if (options === undefined) return playbook.advance(view, event);
      return withMail(playbook, mailOfStages(view, options)).advance(view, event);
    },
  };
}

function answerProblems(list: StageList, schema: string, answer: Json): string[] {
  const problems = schema === 'tasks' ? tasksProblems(answer, list) : [];
  return problems.length === 0 ? [] : ['These tasks cannot be used:', ...problems];
}

/** Options that a run of this list keeps unchanged until its end. */
export function stagesOptions(list: StageList, { run, limits }: Pick<OptionsSource, 'run' | 'limits'>): StagesOptions {
  return { list, folder: `docs/squad/${run}`, reviewRounds: limits.reviewRounds };
}

function parse(known: StageList, { objective, roster, options }: PlaybookSource): Parsed<StagesInput> {
  const errors = staffProblems(optionsOf({ options })?.list ?? known, roster);
  return errors.length > 0
    ? { ok: false, errors: [...new Set(errors)] }
    : { ok: true, input: { objective, roster, options } };
}

function plan({ objective, roster, options }: StagesInput): PlanChange[] {
  const frozen = optionsOf({ options });
  if (frozen === undefined) return [failRun(NO_LIST)];
  const nothing = { task: () => undefined, tasks: () => [], record: () => undefined, records: () => [] };
  return openStages({ objective, roster, options, ...nothing }, frozen);
}
