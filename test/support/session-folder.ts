import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Entry, Step } from '../runs/run-script.ts';

/** A session folder in a few words. */
export interface SessionAbout {
  readonly id?: string;
  readonly description?: string;
  readonly status?: string;
  readonly roles: readonly AboutRole[];
  readonly tasks: readonly AboutTask[];
  /** Ids of tasks that are done, in that order. */
  readonly done?: readonly string[];
  /** More keys of `team-session.json`, such as those that squad does not know. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** More files, or others in place of those that follow from the rest, by their paths. */
  readonly files?: Readonly<Record<string, string>>;
}

interface AboutRole {
  readonly name: string;
  /** None: the role has no `responsibility_type`. */
  readonly responsibility?: string;
  readonly inner_loop?: boolean;
}

interface AboutTask {
  readonly id: string;
  readonly role: string;
  readonly needs?: readonly string[];
  readonly subject?: string;
}

/** Three roles, six tasks: two branches side by side between a first and a last task, and three in one inner loop. */
export const DIAMOND: SessionAbout = {
  roles: [
    { name: 'analyst', responsibility: 'read-only' },
    { name: 'implementer', responsibility: 'code-gen', inner_loop: true },
    { name: 'writer', responsibility: 'code-gen (docs)' },
  ],
  tasks: [
    { id: 'SPEC-001', role: 'analyst' },
    { id: 'IMPL-001', role: 'implementer', needs: ['SPEC-001'] },
    { id: 'IMPL-002', role: 'implementer', needs: ['IMPL-001'] },
    { id: 'IMPL-003', role: 'implementer', needs: ['IMPL-002'] },
    { id: 'DOC-001', role: 'writer', needs: ['SPEC-001'] },
    { id: 'CHECK-001', role: 'analyst', needs: ['IMPL-003', 'DOC-001'] },
  ],
};

/** The files of the folder, by their paths in it. */
export function sessionTexts(about: SessionAbout): Readonly<Record<string, string>> {
  const { id = 'TC-make-things-2026-02-27', description = 'Make things', status = 'active', done = [] } = about;
  const roles = about.roles.map(({ name, responsibility, inner_loop = false }) => ({
    name,
    prefix: about.tasks.find(({ role }) => role === name)?.id.replace(/-\d+$/, '') ?? name.toUpperCase(),
    ...(responsibility === undefined ? {} : { responsibility_type: responsibility }),
    inner_loop,
  }));
  const graph = Object.fromEntries(
    about.tasks.map(({ id: task, role, needs = [] }) => [task, { depends_on: needs, role }]),
  );
  const state = {
    session_id: id,
    task_description: description,
    status,
    team_name: 'make-things',
    roles: roles.map((role) => ({ ...role, role_file: `roles/${role.name}.md` })),
    pipeline: { dependency_graph: graph, tasks_total: about.tasks.length, tasks_completed: done.length },
    active_workers: [],
    completed_tasks: done,
    created_at: '2026-02-27T09:00:00.000Z',
    ...about.extra,
  };
  const analysis = {
    capabilities: about.roles.map(({ name }) => ({ name, description: `What ${name} does`, artifact_type: 'report' })),
    dependency_graph: graph,
    roles,
    tasks: about.tasks.map(({ id: task, subject, role, needs = [] }) => ({
      ...{ id: task, subject: subject ?? `Do ${task}`, owner: role, blockedBy: needs },
    })),
    complexity_score: about.tasks.length,
  };
  return {
    'team-session.json': jsonText(state),
    'task-analysis.json': jsonText(analysis),
    ...Object.fromEntries(roles.map(({ name, prefix }) => [`roles/${name}.md`, roleText(name, prefix)])),
    'shared-memory.json': '{}\n',
    ...Object.fromEntries(['learnings', 'decisions', 'issues'].map((name) => [`wisdom/${name}.md`, ''])),
    'explorations/cache-index.json': '{}\n',
    ...about.files,
  };
}

/** Writes the folder, with the empty ones that belong to it. Returns its path. */
export function writeSession(folder: string, about: SessionAbout): string {
  for (const name of ['artifacts', 'discussions', '.msg']) mkdirSync(join(folder, name), { recursive: true });
  for (const [path, text] of Object.entries(sessionTexts(about))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function roleText(name: string, prefix: string): string {
  return [
    `# Role: ${name}`,
    '## Identity',
    `You do the tasks ${prefix}-* of this team.`,
    '## Boundaries',
    'You MUST do your task. You MUST NOT do those of others.',
    '## Execution (5-Phase)',
    'Read, plan, work, check, answer.',
    '',
  ].join('\n\n');
}

/** What a worker answers: the whole form. */
interface Answer {
  readonly summary: string;
  readonly artifact: { readonly name: string; readonly markdown: string } | null;
  readonly memory: readonly { readonly key: string; readonly value: string }[];
  readonly learnings: readonly string[];
  readonly decisions: readonly string[];
  readonly issues: readonly string[];
  readonly explorations: readonly {
    readonly angle: string;
    readonly keywords: readonly string[];
    readonly findings: string;
  }[];
  readonly discussion: readonly string[];
}

/** An answer that leaves nothing but what it is told to. */
export function answer(more: Partial<Answer> = {}): Answer {
  return {
    ...{ summary: 'done', artifact: null, memory: [], learnings: [], decisions: [], issues: [], explorations: [] },
    discussion: [],
    ...more,
  };
}

/** An answer that leaves something of each kind, all of it named after the task. */
export function fullAnswer(task: string): Answer {
  return {
    summary: `${task} is done`,
    artifact: { name: task.toLowerCase(), markdown: `# What ${task} made\n\nAll of it.\n` },
    memory: [
      { key: task, value: `made by ${task}` },
      { key: 'last', value: task },
    ],
    learnings: [`${task} learned this`],
    decisions: [`${task} decided this`],
    issues: [`${task} met this`],
    explorations: [{ angle: `how ${task} works`, keywords: [task, 'work'], findings: `${task} found this` }],
    discussion: [`# ${task}\n\nIs it good? It is.\n`],
  };
}

/** As prompts begin. For ids of letters, digits and dashes, at most 32 characters long. */
export function promptOf(task: string): string {
  return `# Task ${task.toLowerCase()}: ${task}`;
}

/** What a worker does in the first turn of its task. */
function worker(task: string, said: unknown = fullAnswer(task), steps: readonly Step[] = []): Entry {
  return { when: promptOf(task), steps: [...steps, { answer: 'done' }], structured: said };
}

/** Writes the file of a task and commits it. */
function makes(task: string): Step[] {
  return [
    { write: { path: `${task.toLowerCase()}.txt`, text: `${task}\n` } },
    { run: ['git', 'add', '--all'] },
    { run: ['git', 'commit', '--quiet', '--message', `Make ${task}`] },
  ];
}

/** A turn for each task: those of roles that generate code deliver a file of its name. `before`: what each does first. */
export function workers({ roles, tasks }: SessionAbout, before: (task: string) => readonly Step[] = () => []): Entry[] {
  const writes = new Set(roles.filter(({ responsibility }) => responsibility !== 'read-only').map(({ name }) => name));
  return tasks.map(({ id, role }) =>
    worker(id, fullAnswer(id), [...before(id), ...(writes.has(role) ? makes(id) : [])]),
  );
}
