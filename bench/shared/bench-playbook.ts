import type { Playbook } from '../../src/model/plan.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import { addTask, finishWhenEnded, workTask } from '../../src/playbooks/shared/tasks.ts';

/** A plan that is known from the start, and ends when every task has. */
export function fixedPlan(tasks: readonly NewTask[]): Playbook<null> {
  return playbookOf(
    () => tasks,
    () => undefined,
  );
}

/** One task after the other, each planned when the one before it is done: the plan grows as long as the run lasts. */
export function growingPlan(tasks: number): Playbook<null> {
  const task = (number: number): NewTask => answerTask(`task-${number}`, []);
  return playbookOf(
    () => [task(1)],
    (done) => {
      const next = Number(done.slice('task-'.length)) + 1;
      return next > tasks ? undefined : task(next);
    },
  );
}

/** Work that answers at once as far as git is concerned: no folder of the repository, nothing to prove. */
export function answerTask(id: string, needs: readonly string[]): NewTask {
  return workTask(
    { id, title: `Think about ${id}`, role: 'builder', brief: `Think about ${id}.` },
    {
      needs: [...needs],
      workspace: 'none',
    },
  );
}

function playbookOf(first: () => readonly NewTask[], next: (done: string) => NewTask | undefined): Playbook<null> {
  return {
    name: 'bench',
    roles: { builder: { delivers: 'each' } },
    parse: () => ({ ok: true, input: null }),
    plan: () => first().map(addTask),
    advance: (view, event) => {
      if (event.type === 'task-failed') return [{ do: 'finish', outcome: 'failed', why: event.why }];
      if (event.type !== 'task-done') return [];
      const task = next(event.task);
      // As the real playbooks do after every task.
      return task === undefined ? finishWhenEnded(view) : [addTask(task)];
    },
    tools: () => [],
  };
}
