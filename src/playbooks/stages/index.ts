import type { ChangedPrompts } from '../../prompts/render.ts';
import type { OptionsSource, Parsed, Planning, Playbook, PlaybookSource, View } from '../../model/plan.ts';
import type { Member } from '../../model/plan/board.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { type Json, plainJson } from '../../text/json.ts';
import { defined } from '../../text/defined.ts';
import { withMail } from '../shared/mail.ts';
import { failRun } from '../shared/tasks.ts';
import { advance, NO_LIST, openStages } from './advance.ts';
import { formsOf } from './answers.ts';
import { mailOfStages } from './mail-of-stages.ts';
import { planningOf } from './planning.ts';
import { rolesOf, staffProblems } from './roles.ts';
import type { StageList } from './stage-list.ts';
import { optionsOf, type Forms, type StagesOptions } from './stage-options.ts';
import { stageViews } from './stage-views.ts';
import type { Requirement } from '../../model/plan/task.ts';

type StagesInput = PlaybookSource;

/** A list, and what a playbook of it says of its people and settings. */
export interface StagesSource extends Partial<
  Pick<Playbook<unknown>, 'roles' | 'otherRoles' | 'cast' | 'castsEachRole' | 'settings' | 'tools' | 'background'>
> {
  readonly name: string;
  /** The list that a run was frozen with. */
  readonly list: StageList;
  /** Pure. Makes the list when a run begins. Absent: it is `list`. */
  listFor?(subject: OptionsSource): StageList;
  /** The list of a run has a stage for each agent that it has. Absent: it is the same for all agents. */
  readonly isForAgents?: true;
  /** Kept with the list of a run. */
  readonly keeps?: object;
  /** Problems with the agents, besides roles that the list needs. */
  lacks?(roster: readonly Member[]): string[];
  /** How a person is asked about its plan. */
  readonly asksForPlan?: Planning['byDefault'];
  readonly answers?: Forms;
  /** A plan with a placeholder for each text. */
  example?(view: View): Json;
  /** Its agents neither get nor send mail. */
  readonly hasNoMail?: true;
  /** A check of all delivered work, also of what mail and repairs add. */
  requires?(prompts?: ChangedPrompts): Requirement | undefined;
}

/** Plays a list of stages. Where the next step leads follows from the list and from what has ended. */
export function createStagesPlaybook(source: StagesSource): Playbook<StagesInput> {
  const { name, list, roles = rolesOf(list), otherRoles, cast, castsEachRole, settings, background } = source;
  const forms = formsOf(list, source.answers);
  const playbook: Playbook<StagesInput> = {
    name,
    roles,
    ...defined({ otherRoles, cast, castsEachRole, settings, background, planning: planningOf(source, forms) }),
    options: (subject) => plainJson({ ...stagesOptions(source.listFor?.(subject) ?? list, subject), ...source.keeps }),
    answers: checkedAtOnce(forms),
    parse: (about) => parse(source, about),
    plan: (input) => checked(source, input, plan(input, forms)),
    advance: (view, event) => advance(view, event, forms),
    stages: stageViews,
    tools: source.tools ?? (() => ['ask', 'send', 'report', 'handoff', 'fail']),
    routes: () => 'everybody',
  };
  if (source.hasNoMail === true) return playbook;
  return {
    ...withMail(playbook),
    advance: (view, event) => {
      const options = optionsOf(view);
      if (options === undefined) return playbook.advance(view, event);
      return checked(source, view, withMail(playbook, mailOfStages(view, { ...options, forms })).advance(view, event));
    },
  };
}

function checkedAtOnce(forms: Forms): Playbook<unknown>['answers'] & {} {
  const entries = Object.entries(forms).map(([name, { late, ...form }]) => {
    const { schema, refusal } = form;
    return [name, late === undefined ? form : { schema, ...defined({ refusal }) }] as const;
  });
  return Object.fromEntries(entries);
}

/** Options that a run of this list keeps unchanged until its end. */
export function stagesOptions(list: StageList, { run, limits }: Pick<OptionsSource, 'run' | 'limits'>): StagesOptions {
  return { list, folder: `docs/squad/${run}`, reviewRounds: limits.reviewRounds };
}

function checked(source: StagesSource, { prompts }: Pick<View, 'prompts'>, changes: PlanChange[]): PlanChange[] {
  const requires = source.requires?.(prompts);
  if (requires === undefined) return changes;
  return changes.map((change) => {
    if (change.do !== 'add-task' || !change.task.integrate) return change;
    return { ...change, task: { ...change.task, requires: [...change.task.requires, requires] } };
  });
}

function parse(source: StagesSource, about: PlaybookSource): Parsed<StagesInput> {
  const { objective, roster, options, prompts } = about;
  const lack = source.lacks?.(roster) ?? [];
  const known = source.isForAgents === true ? { stages: [] } : source.list;
  const errors = lack.length > 0 ? lack : staffProblems(optionsOf({ options })?.list ?? known, roster);
  return errors.length > 0
    ? { ok: false, errors: [...new Set(errors)] }
    : { ok: true, input: { objective, roster, options, ...defined({ prompts }) } };
}

function plan(input: StagesInput, forms: Forms): PlanChange[] {
  const frozen = optionsOf(input);
  if (frozen === undefined) return [failRun(NO_LIST)];
  const nothing = { task: () => undefined, tasks: () => [], record: () => undefined, records: () => [] };
  return openStages({ ...input, ...nothing }, { ...frozen, forms });
}
