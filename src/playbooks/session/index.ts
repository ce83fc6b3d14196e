import { z } from 'zod';
import type { Json } from '../../text/json.ts';
import type { Parsed, Playbook, PlaybookSource, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlanEvent } from '../../model/plan/event.ts';
import { isSlug } from '../../model/slug.ts';
import { sortByNeeds } from '../shared/sort-by-needs.ts';
import { addTask, cancelDependents, finishWhenEnded, workTask } from '../shared/tasks.ts';

// A skeleton: the two JSON files are read and the graph of tasks is executed. The full validation with its own messages,
// the sections of role files and the shared memory are not here yet.

const sessionSchema = z.object({
  session_id: z.string(),
  task_description: z.string(),
  status: z.enum(['active', 'paused', 'completed']),
  team_name: z.string(),
  roles: z.array(z.object({ name: z.string(), inner_loop: z.boolean().default(false) })).min(1),
});
const analysisSchema = z.object({
  tasks: z
    .array(
      z.object({ id: z.string(), subject: z.string(), owner: z.string(), blockedBy: z.array(z.string()).default([]) }),
    )
    .min(1),
});

export interface SessionInput {
  readonly sessionId: string;
  readonly innerLoop: readonly string[];
  /** In the order of their needs; ids are slugs, `wireId` is the file's own. */
  readonly tasks: readonly { id: string; wireId: string; subject: string; owner: string; needs: string[] }[];
}

export function createSessionPlaybook(): Playbook<SessionInput> {
  return {
    name: 'session',
    schemas: {},
    parse: parseSession,
    plan: planSession,
    advance,
    tools: () => ['ask', 'send', 'report', 'handoff', 'fail'],
    routes: () => 'everybody',
    files: (view) => [{ path: 'team-session.json', text: `${JSON.stringify(sessionOf(view), null, 2)}\n` }],
  };
}

function parseSession(source: PlaybookSource): Parsed<SessionInput> {
  const session = readJson(source, 'team-session.json', sessionSchema);
  if (!session.ok) return session;
  const analysis = readJson(source, 'task-analysis.json', analysisSchema);
  if (!analysis.ok) return analysis;
  const roles = session.input.roles.map((role) => role.name);
  const { tasks } = analysis.input;
  const ids = new Map(tasks.map((task) => [task.id, slugOf(task.id)]));
  const staffed = new Set(source.roster.map((member) => member.role));
  const errors = [
    ...roles
      .filter((role) => !hasFile(source, `roles/${role}.md`))
      .map((role) => `Role file not found: roles/${role}.md`),
    ...tasks.filter((task) => !isSlug(slugOf(task.id))).map((task) => `task id ${task.id} cannot be used`),
    ...(new Set(ids.values()).size === tasks.length ? [] : ['two task ids are too much alike']),
    ...tasks
      .filter((task) => !staffed.has(task.owner))
      .map((task) => `task ${task.id}: nobody has the role ${task.owner}`),
    ...tasks.flatMap((task) =>
      task.blockedBy.filter((need) => !ids.has(need)).map((need) => `task ${task.id}: there is no task ${need}`),
    ),
  ];
  if (errors.length > 0) return { ok: false, errors };
  const mapped = tasks.map((task) => {
    const { id: wireId, subject, owner, blockedBy } = task;
    return { id: slugOf(wireId), wireId, subject, owner, needs: blockedBy.map(slugOf) };
  });
  const sorted = sortByNeeds(mapped);
  if (sorted.length < mapped.length) return { ok: false, errors: ['the tasks need each other in a circle'] };
  const innerLoop = session.input.roles.filter((role) => role.inner_loop).map((role) => role.name);
  return { ok: true, input: { sessionId: session.input.session_id, innerLoop, tasks: sorted } };
}

function readJson<T>(source: PlaybookSource, path: string, schema: z.ZodType<T>): Parsed<T> {
  const file = source.files.find((one) => one.path === path);
  if (file === undefined) return { ok: false, errors: [`Invalid session: ${path} missing`] };
  const json = z.string().transform(parseJson).safeParse(file.text);
  if (!json.success) return { ok: false, errors: [`Invalid session: ${path} corrupt`] };
  const parsed = schema.safeParse(json.data);
  if (parsed.success) return { ok: true, input: parsed.data };
  return {
    ok: false,
    errors: parsed.error.issues.map((issue) => `${path}: ${issue.path.join('.')}: ${issue.message}`),
  };
}

function parseJson(text: string, context: z.RefinementCtx): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The reader says "corrupt"; where exactly helps nobody who did not write the file by hand.
    context.addIssue({ code: 'custom', message: 'not JSON' });
    return z.NEVER;
  }
}

function hasFile(source: PlaybookSource, path: string): boolean {
  return source.files.some((file) => file.path === path);
}

function slugOf(wireId: string): string {
  return wireId
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .slice(0, 32);
}

/** A role with an inner loop keeps one session for all its tasks. */
function planSession(input: SessionInput): PlanChange[] {
  return [
    { do: 'put', in: 'session', id: 'session_id', value: input.sessionId },
    ...input.tasks.map(({ id, wireId, subject, owner, needs }) =>
      addTask(
        workTask(
          { id, title: subject, role: owner, brief: `${wireId}: ${subject}` },
          {
            needs,
            session: input.innerLoop.includes(owner) ? 'agent' : 'new',
            workspace: 'own',
            requires: [{ kind: 'diff' }],
            integrate: true,
          },
        ),
      ),
    ),
  ];
}

function advance(view: View, event: PlanEvent): PlanChange[] {
  if (event.type === 'task-done' || event.type === 'task-skipped') return finishWhenEnded(view);
  if (event.type !== 'task-failed') return [];
  const cancelled = cancelDependents(view, event.task);
  return cancelled.length > 0 ? cancelled : finishWhenEnded(view);
}

function sessionOf(view: View): Json {
  const completed = view.tasks({ status: 'done' }).map((task) => task.id);
  return {
    session_id: view.record('session', 'session_id') ?? '',
    active_workers: view.roster.filter((member) => member.busy).map((member) => member.name),
    completed_tasks: completed,
    pipeline: { tasks_total: view.tasks().length, tasks_completed: completed.length },
  };
}
