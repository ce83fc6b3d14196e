import { expect } from 'vitest';
import { sessionTexts, type SessionAbout } from '../../support/session-folder.ts';

const ABOUT: SessionAbout = {
  roles: [{ name: 'analyst', responsibility: 'read-only' }, { name: 'writer' }],
  tasks: [
    { id: 'A-1', role: 'analyst' },
    { id: 'B-1', role: 'writer', needs: ['A-1'] },
    { id: 'B-2', role: 'writer', needs: ['B-1'] },
  ],
  done: ['A-1', 'B-1'],
};
const STATE = 'team-session.json';
const PLAN = 'task-analysis.json';
const WRITER = 'roles/writer.md';

export type Texts = Readonly<Record<string, string>>;
export type Edit = (texts: Texts) => Texts;

/** The folder `team`, which is valid. */
export const BASE: Texts = { ...sessionTexts(ABOUT), 'artifacts/a-1.md': '# What A-1 made\n' };

/** The first occurrence, or that one after another text. */
export function put(file: string, from: string, to: string, after = ''): Edit {
  return (texts) => {
    const text = texts[file] ?? '';
    const at = text.indexOf(from, text.indexOf(after));
    expect(at, `${file} has ${from}`).toBeGreaterThanOrEqual(0);
    return { ...texts, [file]: `${text.slice(0, at)}${to}${text.slice(at + from.length)}` };
  };
}

/** Fills the state until it is of 1 MiB when all tasks are done and all roles at work. */
const fill: Edit = (texts) => {
  const state = JSON.parse(texts[STATE] ?? '') as { pipeline: object };
  const largest = {
    ...{ ...state, more: '', status: 'completed', active_workers: ['analyst', 'writer'] },
    ...{ completed_tasks: ['A-1', 'B-1', 'B-2'], pipeline: { ...state.pipeline, tasks_completed: 3 } },
  };
  const room = 1024 * 1024 - Buffer.byteLength(`${JSON.stringify(largest, null, 2)}\n`);
  return { ...texts, [STATE]: `${JSON.stringify({ ...state, more: 'x'.repeat(room) }, null, 2)}\n` };
};

function all(...edits: readonly Edit[]): Edit {
  return (texts) => edits.reduce((made, edit) => edit(made), texts);
}

export interface Row {
  readonly what: string;
  /** Makes a session that is not valid of one that is. */
  readonly edit: Edit;
  /** Makes the valid one of `BASE`; default: it is `BASE`. */
  readonly from?: Edit;
  /** Bytes between the two; default: 1. */
  readonly bytes?: number;
  /** All that people read. */
  readonly text: string;
}

export const CORRECT = (file: string): string => `Correct team/${file}, then run \`squad session check team\`.`;
export const LOOK = (file: string): string =>
  `Look into team/${file}, or make it again: \`squad coordinate objective.md --into team --resume\`.`;

/** The text about one problem. */
export function one(
  place: string,
  message: string,
  { detail = '', next = CORRECT(place.replace(/:\d+$/, '')) } = {},
): string {
  return `${message}\nteam/${place}: ${message}${detail === '' ? '' : `: ${detail}`}\nNext: ${next}`;
}

const IN_GRAPH = 'depends_on": [\n        "';
const IN_TASK = 'blockedBy": [\n        "';

/** What the specification says, in its order. */
export const SPECIFIED: readonly Row[] = [
  {
    what: 'team-session.json does not parse',
    edit: put(STATE, '{', ''),
    text: one(`${STATE}:2`, 'Invalid session: team-session.json corrupt', {
      detail: '":" is not expected here',
      next: LOOK(STATE),
    }),
  },
  {
    what: 'no session_id',
    edit: put(STATE, 'session_id', 'session_iD'),
    text: one(`${STATE}:1`, 'team-session.json missing required field: session_id'),
  },
  {
    what: 'a session_id that is no text',
    from: put(STATE, '"TC-make-things-2026-02-27"', '"7"'),
    edit: put(STATE, '"7"', ' 7 '),
    bytes: 2,
    text: one(`${STATE}:2`, 'team-session.json missing required field: session_id'),
  },
  {
    what: 'no task_description',
    edit: put(STATE, 'task_description', 'task-description'),
    text: one(`${STATE}:1`, 'team-session.json missing required field: task_description'),
  },
  {
    what: 'a task_description without words',
    from: put(STATE, 'Make things', '.'),
    edit: put(STATE, '"."', '" "'),
    text: one(`${STATE}:3`, 'team-session.json missing required field: task_description'),
  },
  {
    what: 'no status',
    edit: put(STATE, '"status', '"state'),
    bytes: 2,
    text: one(`${STATE}:1`, 'team-session.json has invalid status'),
  },
  {
    what: 'another status',
    edit: put(STATE, 'active', 'Active'),
    text: one(`${STATE}:4`, 'team-session.json has invalid status'),
  },
  {
    what: 'no team_name',
    edit: put(STATE, 'team_name', 'team-name'),
    text: one(`${STATE}:1`, 'team-session.json missing required field: team_name'),
  },
  {
    what: 'no roles in team-session.json',
    edit: put(STATE, '"roles"', '"rolls"'),
    text: one(`${STATE}:1`, 'team-session.json missing or empty roles array'),
  },
  {
    what: 'a role without a name',
    edit: put(STATE, '"name"', '"nome"'),
    text: one(`${STATE}:7`, 'team-session.json missing required field: roles[0].name'),
  },
  {
    what: 'a role without a prefix',
    edit: put(STATE, 'prefix', 'Prefix', '"writer"'),
    text: one(`${STATE}:14`, 'team-session.json missing required field: roles[1].prefix'),
  },
  {
    what: 'a role without a role_file',
    edit: put(STATE, 'role_file', 'role-file', '"writer"'),
    text: one(`${STATE}:14`, 'team-session.json missing required field: roles[1].role_file'),
  },
  {
    what: 'task-analysis.json does not parse',
    edit: put(PLAN, '"capabilities"', '"capabilities""'),
    text: one(`${PLAN}:2`, 'Invalid session: task-analysis.json corrupt', {
      detail: '"\\"" is not expected here',
      next: LOOK(PLAN),
    }),
  },
  {
    what: 'no capabilities',
    edit: put(PLAN, 'capabilities', 'Capabilities'),
    text: one(`${PLAN}:1`, 'task-analysis.json missing required field: capabilities'),
  },
  {
    what: 'no dependency_graph',
    edit: put(PLAN, 'dependency_graph', 'dependency-graph'),
    text: one(`${PLAN}:1`, 'task-analysis.json missing required field: dependency_graph'),
  },
  {
    what: 'no roles in task-analysis.json',
    edit: put(PLAN, '"roles"', '"rolls"'),
    text: one(`${PLAN}:1`, 'task-analysis.json missing or empty roles array'),
  },
  {
    what: 'no tasks',
    from: put(STATE, '"completed_tasks"', '"completed"'),
    edit: put(PLAN, '"tasks"', '"task"'),
    text: one(`${PLAN}:1`, 'task-analysis.json missing or empty tasks array'),
  },
  {
    what: 'a role file without its header',
    edit: put(WRITER, '# Role:', '#Role:'),
    text: one(`${WRITER}:1`, 'Invalid role file: roles/writer.md missing role header'),
  },
  {
    what: 'a role file without Identity',
    edit: put(WRITER, '## Identity', '### Identity'),
    text: one(`${WRITER}:1`, 'Invalid role file: roles/writer.md missing required section: Identity'),
  },
  {
    what: 'a role file without Boundaries',
    edit: put(WRITER, '## Boundaries', '## Boundariez'),
    text: one(`${WRITER}:1`, 'Invalid role file: roles/writer.md missing required section: Boundaries'),
  },
  {
    what: 'a role file without Execution',
    edit: put(WRITER, '## Execution', '##Execution'),
    text: one(`${WRITER}:1`, 'Invalid role file: roles/writer.md missing required section: Execution'),
  },
  {
    what: 'a section in a code fence',
    from: put(WRITER, '## Execution', '``\n## Execution'),
    edit: put(WRITER, '``', '```'),
    text: one(`${WRITER}:1`, 'Invalid role file: roles/writer.md missing required section: Execution'),
  },
  {
    what: 'a section in a quote',
    edit: put(WRITER, '## Execution', '>## Execution'),
    text: one(`${WRITER}:1`, 'Invalid role file: roles/writer.md missing required section: Execution'),
  },
  {
    what: 'a section in a comment',
    from: put(WRITER, '## Execution', '<!-\n## Execution'),
    edit: put(WRITER, '<!-', '<!--'),
    text: one(`${WRITER}:1`, 'Invalid role file: roles/writer.md missing required section: Execution'),
  },
  {
    what: 'sections in another order',
    from: put(WRITER, '## Identity', '## Boundaries\n\n## Identity'),
    edit: put(WRITER, '## Boundaries', '##Boundaries', 'You do'),
    text: one(`${WRITER}:3`, 'Invalid role file: roles/writer.md missing required section: Boundaries', {
      detail: 'found here, but it must come after the sections before it',
    }),
  },
];

/** What it does not say. */
export const BEYOND: readonly Row[] = [
  {
    what: 'no room for the ids of all tasks',
    from: fill,
    edit: put(STATE, 'x', 'xx', '"more"'),
    text: one(`${STATE}:1`, 'team-session.json would exceed 1 MiB when all tasks are done'),
  },
  {
    what: 'a circle',
    edit: all(put(PLAN, 'A-1', 'B-2', `${IN_GRAPH}A`), put(PLAN, 'A-1', 'B-2', `${IN_TASK}A`)),
    bytes: 4,
    text: one(`${PLAN}:56`, 'task-analysis.json has a circle: B-1 needs B-2 needs B-1'),
  },
  {
    what: 'a task that needs itself',
    edit: all(put(PLAN, 'A-1', 'B-1', `${IN_GRAPH}A`), put(PLAN, 'A-1', 'B-1', `${IN_TASK}A`)),
    bytes: 2,
    text: one(`${PLAN}:56`, 'task-analysis.json has a circle: B-1 needs B-1'),
  },
  {
    what: 'an unknown id in blockedBy',
    edit: put(PLAN, 'B-1', 'B-7', `${IN_TASK}B`),
    text: one(`${PLAN}:65`, 'task-analysis.json has an unknown task in blockedBy of B-2: B-7'),
  },
  {
    what: 'an unknown id in dependency_graph',
    edit: put(PLAN, '"B-2"', '"B-7"'),
    text: one(`${PLAN}:25`, 'task-analysis.json has an unknown task in dependency_graph: B-7'),
  },
  {
    what: 'an unknown id in depends_on',
    edit: put(PLAN, 'A-1', 'A-7', `${IN_GRAPH}A`),
    text: one(`${PLAN}:21`, 'task-analysis.json has an unknown task in dependency_graph of B-1: A-7'),
  },
  {
    what: 'a need of blockedBy alone',
    from: all(put(PLAN, `"B-1"`, `"B-1","A-1"`, `${IN_TASK}B`), put(PLAN, `"B-1"`, `"B-1","A-1"`, `${IN_GRAPH}B`)),
    edit: put(PLAN, ',"A-1"', '', `${IN_GRAPH}B`),
    bytes: 6,
    text: one(
      `${PLAN}:26`,
      'task-analysis.json disagrees about the needs of B-2: blockedBy has A-1, dependency_graph has not',
    ),
  },
  {
    what: 'two needs that differ',
    edit: put(PLAN, 'B-1', 'A-1', `${IN_TASK}B`),
    text: [
      'task-analysis.json disagrees about the needs of B-2: blockedBy has A-1, dependency_graph has not',
      'team/task-analysis.json:26: task-analysis.json disagrees about the needs of B-2: blockedBy has A-1, dependency_graph has not',
      'team/task-analysis.json:64: task-analysis.json disagrees about the needs of B-2: dependency_graph has B-1, blockedBy has not',
      `Next: ${CORRECT(PLAN)}`,
    ].join('\n'),
  },
  {
    what: 'two owners that differ',
    from: put(PLAN, '"role": "writer"', '"role": ""'),
    edit: put(PLAN, '"role": ""', '"role": "x"'),
    text: one(
      `${PLAN}:23`,
      'task-analysis.json disagrees about the owner of B-1: tasks has writer, dependency_graph has x',
    ),
  },
  {
    what: 'an id twice',
    edit: put(PLAN, '"B-2"', '"B-1"', '"tasks"'),
    text: one(`${PLAN}:61`, 'task-analysis.json has a task twice: B-1'),
  },
  {
    what: 'an id twice in dependency_graph',
    edit: put(PLAN, '"B-2"', '"B-1"'),
    text: one(`${PLAN}:25`, 'task-analysis.json has a key twice: B-1'),
  },
  {
    what: 'an id twice in blockedBy',
    from: all(put(PLAN, '"B-1"', '"B-1","A-1"', `${IN_TASK}B`), put(PLAN, '"B-1"', '"B-1","A-1"', `${IN_GRAPH}B`)),
    edit: all(put(PLAN, 'A-1', 'B-1', `${IN_TASK}B`), put(PLAN, 'A-1', 'B-1', `${IN_GRAPH}B`)),
    bytes: 2,
    text: [
      'task-analysis.json has a task twice in tasks[2].blockedBy: B-1',
      'team/task-analysis.json:65: task-analysis.json has a task twice in tasks[2].blockedBy: B-1',
      'team/task-analysis.json:27: task-analysis.json has a task twice in dependency_graph.B-2.depends_on: B-1',
      `Next: ${CORRECT(PLAN)}`,
    ].join('\n'),
  },
  {
    what: 'an id twice in completed_tasks',
    edit: put(STATE, 'A-1', 'B-1', 'completed_tasks'),
    text: one(`${STATE}:46`, 'team-session.json has a task twice in completed_tasks: B-1'),
  },
  {
    what: 'an unknown id in completed_tasks',
    edit: put(STATE, 'A-1', 'A-7', 'completed_tasks'),
    text: one(`${STATE}:45`, 'team-session.json has an unknown task in completed_tasks: A-7'),
  },
  {
    what: 'an owner without a role',
    edit: put(PLAN, 'writer', 'waiter', '"owner": "analyst"'),
    text: one(`${PLAN}:55`, 'task-analysis.json has an owner without a role in B-1: waiter'),
  },
  {
    what: 'roles that differ',
    edit: put(PLAN, '"writer"', '"waiter"', '"roles": ['),
    text: [
      'Invalid session: roles of team-session.json and task-analysis.json differ: writer is only in team-session.json',
      'team/task-analysis.json:32: Invalid session: roles of team-session.json and task-analysis.json differ: writer is only in team-session.json',
      'team/task-analysis.json:32: Invalid session: roles of team-session.json and task-analysis.json differ: waiter is only in task-analysis.json',
      `Next: ${CORRECT(PLAN)}`,
    ].join('\n'),
  },
  {
    what: 'prefixes that differ',
    edit: put(PLAN, '"B"', '"C"'),
    text: one(
      `${PLAN}:32`,
      'Invalid session: roles of team-session.json and task-analysis.json differ: prefix of writer',
    ),
  },
  {
    what: 'responsibilities that differ',
    edit: put(PLAN, 'read-only', 'read only'),
    text: one(
      `${PLAN}:32`,
      'Invalid session: roles of team-session.json and task-analysis.json differ: responsibility_type of analyst',
    ),
  },
  {
    what: 'inner loops that differ',
    edit: put(PLAN, 'false', 'true'),
    bytes: 4,
    text: one(
      `${PLAN}:32`,
      'Invalid session: roles of team-session.json and task-analysis.json differ: inner_loop of analyst',
    ),
  },
  {
    what: 'a role twice',
    edit: put(STATE, '"writer"', '"analyst"'),
    bytes: 7,
    text: [
      'team-session.json has a role twice: analyst',
      'team/team-session.json:15: team-session.json has a role twice: analyst',
      'team/team-session.json:18: team-session.json has another role_file than roles/analyst.md: roles/writer.md',
      `Next: ${CORRECT(STATE)}`,
    ].join('\n'),
  },
  {
    what: 'a role_file outside roles/',
    edit: put(STATE, 'roles/writer', 'role/writer'),
    text: one(`${STATE}:18`, 'team-session.json has role_file outside roles/: role/writer.md'),
  },
  {
    what: 'a role_file above roles/',
    from: put(STATE, 'roles/writer', './/roles/writer'),
    edit: put(STATE, './/roles', '../roles'),
    text: one(`${STATE}:18`, 'team-session.json has role_file outside roles/: ../roles/writer.md'),
  },
  {
    what: 'a role_file of another role',
    edit: put(STATE, 'roles/writer', 'roles/waiter'),
    text: one(`${STATE}:18`, 'team-session.json has another role_file than roles/writer.md: roles/waiter.md'),
  },
  {
    what: 'a header that names another role',
    edit: put(WRITER, 'writer', 'waiter'),
    text: one(`${WRITER}:1`, 'Invalid role file: roles/writer.md has a role header that names another role: waiter'),
  },
  {
    what: 'a header that names no role',
    edit: put(WRITER, ' writer', ''),
    bytes: 7,
    text: one(`${WRITER}:1`, 'Invalid role file: roles/writer.md has a role header that names no role'),
  },
];

/** A field in a form that it may not have. */
export const FORMS: readonly Row[] = [
  {
    what: 'a pipeline of another form',
    edit: put(STATE, '"pipeline": ', '"pipeline": 7, "plan": '),
    bytes: 11,
    text: one(`${STATE}:21`, 'team-session.json has invalid pipeline'),
  },
  {
    what: 'active_workers of another form',
    edit: put(STATE, '[]', '{}', 'active_workers'),
    bytes: 2,
    text: one(`${STATE}:43`, 'team-session.json has invalid active_workers'),
  },
  {
    what: 'a created_at of another form',
    from: put(STATE, '"2026-02-27T09:00:00.000Z"', '"7"'),
    edit: put(STATE, '"7"', ' 7 '),
    bytes: 2,
    text: one(`${STATE}:48`, 'team-session.json has invalid created_at'),
  },
  {
    what: 'completed_tasks of another form',
    edit: put(STATE, '"A-1"', '   7 ', 'completed_tasks'),
    bytes: 5,
    text: one(`${STATE}:44`, 'team-session.json has invalid completed_tasks'),
  },
  {
    what: 'an inner_loop of another form',
    edit: put(STATE, 'false', '    0'),
    bytes: 5,
    text: one(`${STATE}:11`, 'team-session.json has invalid roles[0].inner_loop'),
  },
  {
    what: 'a responsibility_type of another form',
    edit: put(STATE, '"read-only"', '          7'),
    bytes: 11,
    text: one(`${STATE}:10`, 'team-session.json has invalid roles[0].responsibility_type'),
  },
  {
    what: 'a role of task-analysis.json without a name',
    edit: put(PLAN, '"name"', '"nome"', '"roles"'),
    text: one(`${PLAN}:33`, 'task-analysis.json missing required field: roles[0].name'),
  },
  ...['id', 'subject', 'owner'].map((name) => ({
    what: `a task without ${name}`,
    edit: put(PLAN, `"${name}"`, `"${name}s"`, '"tasks"'),
    text: one(`${PLAN}:46`, `task-analysis.json missing required field: tasks[0].${name}`),
  })),
  {
    what: 'a blockedBy of another form',
    edit: put(PLAN, '"B-1"', '    7', `${IN_TASK}B`),
    bytes: 5,
    text: one(`${PLAN}:64`, 'task-analysis.json has invalid tasks[2].blockedBy'),
  },
  {
    what: 'an entry of dependency_graph of another form',
    edit: put(PLAN, '"B-2": ', '"B-2": 7, "B-3": '),
    bytes: 10,
    text: one(`${PLAN}:25`, 'task-analysis.json has invalid dependency_graph.B-2'),
  },
];
