import { z } from 'zod';
import type { Json } from '../../text/json.ts';
import type { Playbook, PlaybookSource, View } from '../../model/plan.ts';
import type { Objective } from '../../model/plan/board.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlanEvent } from '../../model/plan/event.ts';
import type { NewTask } from '../../model/plan/task.ts';
import { addTask, answerSchema, cancelDependents, ENDED, finishWhenEnded, workTask } from '../shared/tasks.ts';

// A skeleton of one sprint: research → the five planning phases → todo chains → report. Requests into a running sprint are
// put on the backlog and acknowledged; scheduling, carry-over and blocked backlog are not here yet.

const PLANNING = [
  'milestone-refinement',
  'artifact-sync',
  'backlog-definition',
  'backlog-prioritization',
  'todo-finalization',
] as const;

const backlogSchema = z.object({ items: z.array(z.object({ id: z.string(), title: z.string() })) });
const todosSchema = z.object({
  todos: z.array(z.object({ title: z.string(), brief: z.string(), acceptance: z.array(z.string()) })),
});

const ROLES = ['research', 'planner', 'architect', 'developer', 'qa', 'version-controller'];

export function createSprintPlaybook(): Playbook<Objective> {
  return {
    name: 'sprint',
    schemas: { backlog: answerSchema(backlogSchema), todos: answerSchema(todosSchema) },
    parse: ({ objective, roster }: PlaybookSource) => {
      const missing = ROLES.filter((role) => !roster.some((member) => member.role === role));
      if (missing.length === 0) return { ok: true, input: objective };
      return { ok: false, errors: missing.map((role) => `sprint needs an agent with the role ${role}`) };
    },
    plan: planSprint,
    advance,
    tools: (role) => (role === 'planner' ? ['ask', 'send', 'report'] : ['ask', 'report', 'handoff', 'done', 'fail']),
    routes: () => 'everybody',
    files: (view) => [{ path: 'backlog.md', text: backlogOf(view) }],
  };
}

/** The planner keeps one session over its five phases. */
function planSprint(objective: Objective): PlanChange[] {
  const research = workTask({ id: 'research', title: 'Research', role: 'research', brief: objective.text });
  const schemas: Partial<Record<string, string>> = { 'backlog-definition': 'backlog', 'todo-finalization': 'todos' };
  const phases = PLANNING.map((id, index): NewTask => {
    const before = PLANNING[index - 1];
    const schema = schemas[id];
    return workTask(
      { id, title: id, role: 'planner', brief: `${id}\n\n${objective.text}` },
      {
        needs: [before ?? 'research'],
        session: before === undefined ? 'new' : { of: PLANNING[0] },
        ...(schema === undefined ? {} : { output: { schema, repairs: 1 } }),
      },
    );
  });
  return [research, ...phases].map(addTask);
}

function advance(view: View, event: PlanEvent): PlanChange[] {
  switch (event.type) {
    case 'task-done':
      return taskDone(view, event.task, event.output ?? null);
    case 'task-failed': {
      const cancelled = cancelDependents(view, event.task);
      return cancelled.length > 0 ? cancelled : finishSprint(view);
    }
    case 'task-skipped':
      return finishSprint(view);
    case 'request': {
      const item = { title: event.text, status: 'pending', fingerprint: event.fingerprint };
      const known = view.records('backlog').some(({ value }) => fingerprintOf(value) === event.fingerprint);
      return known ? [] : [{ do: 'put', in: 'backlog', id: event.id, value: item }];
    }
    case 'review-round':
    case 'gate-refused':
    case 'gate-checked':
    case 'branch-restored':
    case 'mail':
    case 'intervention':
    case 'overdue':
    case 'answer':
    case 'timer':
    case 'refused':
      return [];
    default:
      return event satisfies never;
  }
}

function taskDone(view: View, id: string, output: Json): PlanChange[] {
  if (id === 'backlog-definition') {
    const backlog = backlogSchema.safeParse(output);
    const items = backlog.success ? backlog.data.items : [];
    if (items.length === 0)
      return [{ do: 'finish', outcome: 'failed', why: 'planning is incomplete: the backlog is empty' }];
    return items.map((item) => ({
      do: 'put',
      in: 'backlog',
      id: item.id,
      value: { title: item.title, status: 'pending' },
    }));
  }
  if (id !== 'todo-finalization') return finishSprint(view);
  const answer = todosSchema.safeParse(output);
  const todos = answer.success ? answer.data.todos : [];
  if (todos.length === 0)
    return [{ do: 'finish', outcome: 'failed', why: 'planning is incomplete: there are no todos' }];
  return todos.flatMap((todo, index) => chainOf(`todo-${index + 1}`, todo)).map(addTask);
}

/** Guidance → build, reviewed by the architect, whose findings the developer revises → QA → the version controller. */
function chainOf(id: string, todo: { title: string; brief: string; acceptance: string[] }): NewTask[] {
  const { title, brief, acceptance } = todo;
  return [
    workTask({ id: `${id}-guide`, title: `Guidance: ${title}`, role: 'architect', brief }),
    workTask(
      { id, title, role: 'developer', brief },
      {
        needs: [`${id}-guide`],
        workspace: 'own',
        requires: [{ kind: 'diff' }],
        review: { by: ['architect', 'qa'], quorum: 'all', rounds: 4, criteria: acceptance },
      },
    ),
    workTask(
      { id: `${id}-commit`, title: `Commit: ${title}`, role: 'version-controller', brief: `Commit ${title}.` },
      { needs: [id], base: id, workspace: 'own', requires: [{ kind: 'commit' }], integrate: true },
    ),
  ];
}

function finishSprint(view: View): PlanChange[] {
  const planned = view.task('todo-finalization');
  return planned !== undefined && ENDED.has(planned.status) ? finishWhenEnded(view) : [];
}

function fingerprintOf(value: Json): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value['fingerprint'] : undefined;
}

function backlogOf(view: View): string {
  const lines = view.records('backlog').map(({ id, value }) => {
    const title = typeof value === 'object' && value !== null && !Array.isArray(value) ? value['title'] : value;
    return `- ${id}: ${typeof title === 'string' ? title : ''}`;
  });
  return ['# Backlog', '', ...lines, ''].join('\n');
}
