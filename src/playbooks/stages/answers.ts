import { isJsonObject } from '../../text/json.ts';
import type { AnswerForm } from '../../model/plan.ts';
import { taskIdOf } from './list-facts.ts';
import { tasksForm } from './plan-tasks.ts';
import type { Stage, StageList } from './stage-list.ts';
import type { Forms } from './stage-options.ts';
import { VERDICT } from './verdicts.ts';

/** The name of the form that a stage answers in; undefined: it answers in its own words. */
export function formNameOf(stage: Stage): string | undefined {
  const { makes } = stage;
  if (!('answer' in makes) || makes.answer === undefined) return undefined;
  return typeof makes.answer === 'string' ? makes.answer : `answer-${taskIdOf(stage)}`;
}

/** The forms of every list, those that its stages have as JSON Schemas, and those of its playbook. */
export function formsOf(list: StageList, own: Forms = {}): Forms {
  const written = list.stages.flatMap((stage): [string, AnswerForm][] => {
    const schema = 'answer' in stage.makes ? stage.makes.answer : undefined;
    return isJsonObject(schema) ? [[formNameOf(stage) ?? '', { schema: { ...schema } }]] : [];
  });
  return { tasks: tasksForm(list), verdict: VERDICT, ...Object.fromEntries(written), ...own };
}
