import type { OptionsSource, Parsed, Planning, PlanReading, Playbook, PlaybookSource, View } from '../../model/plan.ts';
import type { Member } from '../../model/plan/board.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { Requirement } from '../../model/plan/task.ts';
import type { ChangedPrompts } from '../../prompts/render.ts';
import { defined } from '../../text/defined.ts';
import { type Json, plainJson } from '../../text/json.ts';
import { withMail } from '../shared/mail.ts';
import { failRun } from '../shared/tasks.ts';
import { advance, NO_LIST, openStages } from './advance.ts';
import { formNameOf, formsOf } from './answers.ts';
import { givesTasks, taskIdOf } from './list-facts.ts';
import { mailOfStages } from './mail-of-stages.ts';
import { openEach } from './opening.ts';
import { rolesOf, staffProblems } from './roles.ts';
import type { Stage, StageList } from './stage-list.ts';
import { type Forms, optionsOf, type StagesOptions } from './stage-options.ts';
import { progressOf } from './stage-progress.ts';
import { passOf, putAnswer, withPuts } from './stage-records.ts';
import { tasksOfStage } from './stage-tasks.ts';
import { stageViews } from './stage-views.ts';

interface PlanSource {
  readonly list: StageList;
  readonly asksForPlan?: Planning['byDefault'] | undefined;
  example?(view: View): Json;
}

const EXAMPLE: Json = {
  tasks: [
    {
      ...{ id: 'task-1', title: '<title>', brief: '<brief by the planner>', needs: [] },
      ...{ paths: ['<path>'], acceptance: ['<criterion by the planner>'] },
    },
  ],
};

type StagesInput = PlaybookSource;

/** A list, and what a playbook of it says of its people and settings. */
export interface StagesSource extends Partial<
  Pick<
    Playbook<unknown>,
    'roles' | 'otherRoles' | 'cast' | 'castsEachRole' | 'joinsRepositories' | 'settings' | 'tools' | 'background'
  >
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
  const { joinsRepositories } = source;
  const forms = formsOf(list, source.answers);
  const playbook: Playbook<StagesInput> = {
    name,
    roles,
    ...defined({ otherRoles, cast, castsEachRole, joinsRepositories, settings, background }),
    ...defined({ planning: planningOf(source, forms) }),
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

/** The stage whose answer plans the tasks of another one: a person may approve it. undefined: the list has none. */
function planningOf(source: PlanSource, forms: Forms): Planning | undefined {
  const { list, asksForPlan } = source;
  const planner = list.stages.find((stage) => givesTasks(list, stage) && eachOf(list, stage).length > 0);
  if (planner === undefined) return undefined;
  return {
    task: taskIdOf(planner),
    read: (view, answer) => read(view, forms, planner, answer),
    example: (view) => source.example?.(view) ?? EXAMPLE,
    ...defined({ byDefault: asksForPlan }),
  };
}

function eachOf({ stages }: StageList, planner: Stage): readonly Stage[] {
  return stages.filter(({ each }) => each?.of === planner.id);
}

function read(view: View, forms: Forms, planner: Stage, output: unknown): PlanReading {
  const options = optionsOf(view);
  if (options === undefined) return { ok: false, problems: ['the run has no list of stages'] };
  const answer = plainJson(output ?? null);
  const reading = forms[formNameOf(planner) ?? '']?.read?.(view, answer, taskIdOf(planner)) ?? {};
  if (reading.problems !== undefined) return { ok: false, problems: reading.problems };
  const { entries = [], summary = '', criteria = [] } = reading;
  const { pass } = passOf(view, planner.id);
  const scene = withPuts(view, [putAnswer({ stage: planner.id, pass }, answer, entries)]);
  const progress = progressOf(scene, options.list);
  const planned = new Set(eachOf(options.list, planner).map(({ id }) => id));
  const openings = progress.flatMap((of) =>
    planned.has(of.stage.id) ? [{ scene, options: { ...options, forms }, progress, of, also: [] }] : [],
  );
  const changes = openEach(openings, tasksOfStage);
  const tasks = changes.flatMap((change) => (change.do === 'add-task' ? [change.task] : []));
  return { ok: true, answer, summary, tasks, criteria };
}
