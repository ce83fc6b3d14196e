import { defined } from '../../text/defined.ts';
import { plainJson, type Json } from '../../text/json.ts';
import type { Planning, PlanReading, View } from '../../model/plan.ts';
import { formNameOf } from './answers.ts';
import { givesTasks, taskIdOf } from './list-facts.ts';
import { openEach } from './opening.ts';
import type { Stage, StageList } from './stage-list.ts';
import { optionsOf, type Forms } from './stage-options.ts';
import { progressOf } from './stage-progress.ts';
import { passOf, putAnswer, withPuts } from './stage-records.ts';
import { tasksOfStage } from './stage-tasks.ts';

interface PlanSource {
  readonly list: StageList;
  readonly asksForPlan?: Planning['byDefault'] | undefined;
  example?(view: View): Json;
}

/** The stage whose answer plans the tasks of another one: a person may approve it. undefined: the list has none. */
export function planningOf(source: PlanSource, forms: Forms): Planning | undefined {
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

const EXAMPLE: Json = {
  tasks: [
    {
      ...{ id: 'task-1', title: '<title>', brief: '<brief by the planner>', needs: [] },
      ...{ paths: ['<path>'], acceptance: ['<criterion by the planner>'] },
    },
  ],
};

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
