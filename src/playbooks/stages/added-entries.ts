import { renderPrompt } from '../../prompts/render.ts';
import type { PlannedEntry, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { NewTask } from '../../model/plan/task.ts';
import { chainTasks } from './entry-tasks.ts';
import { chainBehind } from './list-facts.ts';
import type { Stage } from './stage-list.ts';
import type { Play } from './stage-options.ts';
import { progressOf } from './stage-progress.ts';
import { putEntry } from './stage-records.ts';
import { taskOfEntry } from './stage-tasks.ts';

interface Added {
  readonly stage: Stage;
  readonly entry: PlannedEntry;
  /** The first task has this besides the work of the stage. */
  readonly first: Partial<NewTask>;
  /** The later tasks have this. */
  readonly later?: Partial<NewTask>;
  /** Messages that its judges are shown. */
  readonly mail?: readonly string[];
}

/** The tasks of an entry that no plan has, through the stages behind this one as well. Empty: none follows it entry by entry. */
export function addedEntry(view: View, options: Play, about: Added): PlanChange[] {
  const { stage, entry, first, later = {}, mail = [] } = about;
  const { list } = options;
  const behind = chainBehind(list, stage);
  if (behind.length === 0) return [];
  const progress = progressOf(view, list);
  const chain = [stage, ...behind].flatMap(({ id }) => progress.find((one) => one.stage.id === id) ?? []);
  const [of] = chain;
  if (of === undefined) return [];
  const opening = { scene: view, options, progress, of, also: [], taken: new Set<string>() };
  const { changes } = chainTasks(opening, taskOfEntry, { chain, entry, from: '', needs: [], added: true });
  return [
    putEntry(entry),
    ...changes.map((change): PlanChange => {
      if (change.do !== 'add-task') return change;
      const { task } = change;
      if (task.id === entry.id) return { do: 'add-task', task: { ...task, ...first } };
      return { do: 'add-task', task: { ...task, ...later, brief: shown(view, task, mail) } };
    }),
  ];
}

/** Most earlier verdicts that a judge is asked to repeat. */
const MOST_JUDGED = 20;

/** The brief of a judge of work that came after other verdicts, which did not cover it. */
function shown(view: View, { brief, role, output }: NewTask, mail: readonly string[]): NewTask['brief'] {
  if (output === undefined) return brief;
  const before = view.tasks({ role }).filter((task) => task.output?.schema === output.schema);
  const lines = before.slice(-MOST_JUDGED).map((task) => task.brief.text.split('\n\n', 1).join(''));
  const again = lines.length === 0 ? [] : [renderPrompt('stage/earlier', { tests: lines }, view.prompts)];
  return { ...brief, text: [brief.text, ...again].join('\n\n'), ...(mail.length === 0 ? {} : { mail: [...mail] }) };
}
