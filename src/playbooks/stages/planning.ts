import type { Json } from '../../text/json.ts';
import { plainJson } from '../../text/json.ts';
import type { Planning, PlanReading, View } from '../../model/plan.ts';
import type { TasksAnswer } from './answers.ts';
import { taskIdOf } from './list-facts.ts';
import { openEach } from './opening.ts';
import { readTasks } from './plan-tasks.ts';
import type { Stage, StageList } from './stage-list.ts';
import { optionsOf } from './stage-options.ts';
import { givesTasks, progressOf } from './stage-progress.ts';
import { passOf, putAnswer, withPuts } from './stage-records.ts';
import { tasksOfStage } from './stage-tasks.ts';

/** The stage whose answer plans the tasks of another one: a person may approve it. undefined: the list has none. */
export function planningOf(list: StageList): Planning | undefined {
  const planner = list.stages.find((stage) => givesTasks(stage) && eachOf(list, stage).length > 0);
  if (planner === undefined) return undefined;
  return {
    task: taskIdOf(planner),
    read: (view, answer) => read(view, optionsOf(view)?.list ?? list, planner, answer),
    example: () => EXAMPLE,
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

function read(view: View, list: StageList, planner: Stage, output: unknown): PlanReading {
  const reading = readTasks(output, list);
  const options = optionsOf(view);
  if (!reading.ok) return reading;
  if (options === undefined) return { ok: false, problems: ['the run has no list of stages'] };
  const { answer } = reading;
  const scene = withPuts(view, [
    putAnswer({ stage: planner.id, pass: passOf(view, planner.id).pass }, plainJson(answer)),
  ]);
  const progress = progressOf(scene, list);
  const planned = new Set(eachOf(list, planner).map(({ id }) => id));
  const openings = progress.flatMap((of) =>
    planned.has(of.stage.id) ? [{ scene, options, progress, of, also: [] }] : [],
  );
  const changes = openEach(openings, tasksOfStage);
  const tasks = changes.flatMap((change) => (change.do === 'add-task' ? [change.task] : []));
  return { ok: true, answer: plainJson(answer), summary: summaryOf(answer), tasks, criteria: [] };
}

function summaryOf({ tasks }: TasksAnswer): string {
  return tasks.map(({ title }) => title).join('; ');
}
