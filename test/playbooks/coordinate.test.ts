import { describe, expect, it } from 'vitest';
import { limitsSchema } from '../../src/model/limits.ts';
import type { View } from '../../src/model/plan.ts';
import { createCoordinatePlaybook, judgeTeam, madeFolder } from '../../src/playbooks/coordinate/index.ts';
import { keptFrom } from '../../src/playbooks/coordinate/kept-files.ts';
import type { CoordinateOptions } from '../../src/playbooks/coordinate/options.ts';
import { roleText } from '../../src/playbooks/coordinate/team-files.ts';
import type { FileRead } from '../../src/playbooks/session/folder-read.ts';
import { refuseTooLong } from '../../src/squad/sources/session/new-session.ts';
import { plainObjective } from '../../src/squad/preflight/read-input.ts';
import { plainJson, type Json } from '../../src/text/json.ts';
import { parseBlocks } from '../../src/text/markdown.ts';
import { CIRCLE, LOST_ROLE, plannedRole, plannedTask, teamAnswer } from '../support/team-answer.ts';
import { DIAMOND, sessionTexts } from '../support/session-folder.ts';
import { factsOf, member, simulate, type Played } from './simulator.ts';

const OPTIONS: CoordinateOptions = {
  ...{ folder: '/repo/team', shown: 'team', id: 'TC-make-things-2026-02-27', team: 'make-things' },
  ...{ createdAt: '2026-02-27T09:00:00.000Z', kept: [], invalid: [], isThere: false },
  ...{ criteria: [], play: [], playWithout: [] },
};

function problemsOf(answer: unknown, options = OPTIONS): readonly string[] {
  const judged = judgeTeam(answer, options, 'Make things');
  return judged.ok ? [] : judged.problems;
}

function filesOf(answer: unknown, options = OPTIONS): Record<string, string> {
  const judged = judgeTeam(answer, options, 'Make things');
  if (!judged.ok) throw new Error(judged.problems.join('\n'));
  return Object.fromEntries(judged.files.map(({ path, text }) => [path, text]));
}

describe('the answer of a planner', () => {
  it('becomes all files of a session', () => {
    const files = filesOf(teamAnswer());
    expect(Object.keys(files).toSorted()).toEqual([
      ...['explorations/cache-index.json', 'roles/checker.md', 'roles/writer.md', 'shared-memory.json'],
      ...['task-analysis.json', 'team-session.json'],
      ...['wisdom/decisions.md', 'wisdom/issues.md', 'wisdom/learnings.md'],
    ]);
    const graph = {
      'WRIT-001': { depends_on: [], role: 'writer' },
      'WRIT-002': { depends_on: ['WRIT-001'], role: 'writer' },
      'CHEC-001': { depends_on: ['WRIT-002'], role: 'checker' },
    };
    expect(JSON.parse(files['team-session.json'] ?? '')).toEqual({
      session_id: 'TC-make-things-2026-02-27',
      task_description: 'Make things',
      status: 'paused',
      team_name: 'make-things',
      roles: [
        {
          ...{ name: 'writer', prefix: 'WRIT', responsibility_type: 'code-gen', inner_loop: false },
          role_file: 'roles/writer.md',
        },
        {
          ...{ name: 'checker', prefix: 'CHEC', responsibility_type: 'read-only', inner_loop: false },
          role_file: 'roles/checker.md',
        },
      ],
      pipeline: { dependency_graph: graph, tasks_total: 3, tasks_completed: 0 },
      active_workers: [],
      completed_tasks: [],
      created_at: '2026-02-27T09:00:00.000Z',
    });
    expect(JSON.parse(files['task-analysis.json'] ?? '')).toMatchObject({ dependency_graph: graph });
  });

  it.each(['', '\ufeff'])('makes a session of the objective without its front matter: %j', (mark) => {
    const text = `${mark}---\r\nname: login\r\n---\r\n\r\n# Objective: Let people log in\r\n`;
    const view = { task: () => ({ answer: teamAnswer() }), objective: { text } } as unknown as View;
    const made = madeFolder(OPTIONS, view);
    const files = made === undefined || 'problem' in made ? [] : made.files;
    const state = files.find(({ path }) => path === 'team-session.json')?.text;
    expect(JSON.parse(state ?? '')).toMatchObject({ task_description: '# Objective: Let people log in' });
  });

  it('makes no session for which the objective leaves no room, and says so', () => {
    const objective = { text: '\u0001'.repeat(174_700) };
    const view = { task: () => ({ answer: teamAnswer() }), objective } as unknown as View;
    expect(madeFolder(OPTIONS, view)).toEqual({
      problem: 'no session folder was made: team-session.json would exceed 1 MiB when all tasks are done',
    });
    const about = (text: string) => plainObjective(text, 'objective.md');
    const begun = { shown: 'team', invalid: [], kept: [{ path: 'team-session.json', text: '{}' }] };
    expect(() => refuseTooLong(about('\u0001'.repeat(174_500)), undefined)).not.toThrow();
    expect(() => refuseTooLong(about('\u0001'.repeat(512_000)), begun)).not.toThrow();
    expect(() => refuseTooLong(about('\u0001'.repeat(512_000)), undefined)).toThrow(
      expect.objectContaining({ code: 'bad-input', message: expect.stringContaining('the objective is too long') }),
    );
  });

  const wrong: readonly [name: string, answer: unknown, problem: RegExp][] = [
    ['no answer', null, /^the answer is null; it must be an object with `/],
    ['a field that is missing', { ...teamAnswer(), tasks: undefined }, /^`tasks` is missing; it must be a list/],
    ['no capability', teamAnswer({ capabilities: [] }), /^there is no capability$/],
    ['no task', teamAnswer({ tasks: [] }), /task-analysis\.json missing or empty tasks array/],
    ['no role', teamAnswer({ roles: [], tasks: [] }), /team-session\.json missing or empty roles array/],
    ['a circle', CIRCLE, /circle: WRIT-001 needs CHEC-001 needs WRIT-001/],
    ['an owner without a role', LOST_ROLE, /owner without a role in CHEC-001: checker/],
    [
      'an unknown need',
      teamAnswer({ tasks: [plannedTask('WRIT-001', 'writer', ['WRIT-009'])] }),
      /unknown task in blockedBy of WRIT-001: WRIT-009/,
    ],
    [
      'an id twice',
      teamAnswer({ tasks: [plannedTask('WRIT-001', 'writer'), plannedTask('WRIT-001', 'checker')] }),
      /a task twice: WRIT-001/,
    ],
    ['a role twice', teamAnswer({ roles: [plannedRole('writer'), plannedRole('writer')] }), /a role twice: writer/],
    ['a role that is a path', teamAnswer({ roles: [plannedRole('../x')] }), /^role "\.\.\/x": the name must be/],
    [
      'a role that is a device',
      teamAnswer({ roles: [plannedRole('aux')] }),
      /another name: its file roles\/aux\.md .*device/,
    ],
    [
      'a prefix of other letters',
      teamAnswer({ roles: [plannedRole('writer', { prefix: 'a b' })] }),
      /the prefix must be/,
    ],
    ['four phases', teamAnswer({ roles: [plannedRole('writer', { phases: [] })] }), /it needs 5 phases/],
    ['no rules', teamAnswer({ roles: [plannedRole('writer', { must: [] })] }), /entries in both must and must_not/],
    ['an empty rule', teamAnswer({ roles: [plannedRole('writer', { must: [' '] })] }), /one of its texts is empty/],
    ['no identity', teamAnswer({ roles: [plannedRole('writer', { identity: '' })] }), /it needs an identity/],
    [
      'a subject without end',
      teamAnswer({ tasks: [{ ...plannedTask('WRIT-001', 'writer'), subject: 'x'.repeat(1001) }] }),
      /its subject has more than 1000 characters/,
    ],
  ];
  it.each(wrong)('is refused: %s', (_name, answer, problem) => {
    const problems = problemsOf(answer);
    expect(
      problems.some((text) => problem.test(text)),
      problems.join('\n'),
    ).toBe(true);
  });

  it('is refused with all its problems at once', () => {
    const problems = problemsOf({ ...CIRCLE, roles: [plannedRole('writer', { must: [] })] });
    expect(problems.join('\n')).toMatch(/must_not[^]*owner without a role[^]*circle/);
  });
});

describe('the playbook', () => {
  const playbook = createCoordinatePlaybook(OPTIONS);
  const { answers = {} } = playbook;
  const read = (answer: Json) => answers['team']?.read?.({} as View, answer, 'coordinate');

  it('says that the problems are of the answer, and not of a folder that is there', () => {
    expect(read(plainJson(teamAnswer()))).toEqual({ summary: 'the team is designed' });
    expect(read(plainJson(teamAnswer({ capabilities: [] })))).toEqual({
      problems: ['the answer makes no valid session folder:', 'there is no capability'],
    });
  });

  it('ends as designed, for nothing is delivered', () => {
    expect(played(teamAnswer()).end).toMatchObject({ outcome: 'done', why: 'the team is designed' });
  });

  it('gives the planner two turns to correct its answer', () => {
    const { turns, end } = played({});
    expect(turns.map(({ prompt }) => prompt.why)).toEqual(['start', 'repair', 'repair']);
    expect(end).toMatchObject({ outcome: 'failed', why: expect.stringMatching(/^coordinate: bad-output: /) });
  });

  function played(answer: unknown): Played {
    const limits = limitsSchema.parse({});
    const from = {
      run: 'try',
      section: undefined,
      limits,
      publish: undefined,
      roles: ['planner'],
      objective: { criteria: [] },
    };
    const facts = factsOf([member('ada', 'planner')], { options: playbook.options?.(from) ?? {}, verifies: false });
    const parsed = playbook.parse(facts);
    if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
    const script = { turn: () => ({ output: plainJson(answer) }) };
    return simulate({ facts, playbook, plan: playbook.plan(parsed.input), script });
  }
});

describe('a role file', () => {
  const hostile = [
    '# Role: other',
    '## Identity',
    '```',
    '<!-- x',
    '<script>',
    '~~~',
    '---',
    '===',
    '> # x',
    '- x',
    '1. x',
  ];
  it.each(hostile)('has its own headings only, whatever a text begins with: %s', (text) => {
    const lines = `${text}\n\n## Execution\u001b[2J`;
    const role = plannedRole('writer', {
      ...{ identity: lines, must: [lines], must_not: [lines] },
      phases: Array.from({ length: 5 }, () => ({ title: lines, steps: [lines] })),
    });
    const file = roleText(role);
    const tokens = parseBlocks(file);
    const headings = tokens.flatMap(({ type, level }, index) =>
      type === 'heading_open' && level === 0 ? [tokens[index + 1]?.content ?? ''] : [],
    );
    expect(headings.filter((heading) => !/^(?:MUST|Phase \d)/.test(heading))).toEqual([
      ...['Role: writer', 'Identity', 'Boundaries', 'Execution (5-Phase)'],
    ]);
    expect(tokens.filter(({ type }) => ['fence', 'html_block', 'hr', 'blockquote_open'].includes(type))).toEqual([]);
    expect(file).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});

describe('a folder that holds a part of a session', () => {
  const texts = sessionTexts(DIAMOND);
  const readOf = (files: Readonly<Record<string, string>>) => ({
    folder: 'team',
    files: new Map(Object.entries(files).map(([path, text]) => [path, { text }])),
    folders: ['', 'roles', 'wisdom', 'explorations'],
  });
  const without = (...paths: readonly string[]): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).filter(([path]) => !paths.includes(path)));

  it('lacks nothing if it is valid', () => {
    expect(keptFrom(readOf(texts))).toEqual({ type: 'complete' });
  });

  it('is refused if it has no room for the ids of all tasks', () => {
    const state = texts['team-session.json'] ?? '';
    const padded = `${state}${' '.repeat(1_048_576 - Buffer.byteLength(state))}`;
    expect(keptFrom(readOf({ ...texts, 'team-session.json': padded }))).toMatchObject({
      type: 'outgrown',
      refusal: {
        first: 'team-session.json would exceed 1 MiB when all tasks are done',
        next: expect.stringMatching(/^Correct team\/team-session\.json, then run `squad session check team`/),
      },
    });
  });

  it('keeps what is valid, and names what is not', () => {
    const kept = keptFrom(readOf({ ...without('roles/writer.md'), 'task-analysis.json': '{' }));
    expect(kept).toMatchObject({ type: 'partly', invalid: ['task-analysis.json'] });
    expect(kept.type === 'partly' ? kept.kept.map(({ path }) => path) : []).toEqual([
      ...['team-session.json', 'roles/analyst.md', 'roles/implementer.md'],
    ]);
  });

  it('is not taken up where no planner can help', () => {
    const read = readOf(without('roles/writer.md'));
    const files = new Map<string, FileRead>([...read.files, ['artifacts', { why: 'is a link' }]]);
    expect(keptFrom({ ...read, files })).toMatchObject({
      type: 'refused',
      problems: [{ message: expect.stringContaining('link') }],
    });
  });

  const withRoles = (texts: Readonly<Record<string, string>>, ...names: readonly string[]) => {
    const analysis = JSON.parse(texts['task-analysis.json'] ?? '') as { roles: unknown[] };
    const more = names.map((name) => ({ name, prefix: 'X' }));
    return { ...texts, 'task-analysis.json': JSON.stringify({ ...analysis, roles: [...analysis.roles, ...more] }) };
  };

  it.each([['a/b'], ['../x'], ['w:1'], ['aux']])('is not taken up with a role that no file can have: %s', (name) => {
    expect(keptFrom(readOf(withRoles(without('team-session.json'), name)))).toMatchObject({
      type: 'refused',
      problems: [{ message: expect.stringContaining('a role that needs another name') }],
    });
  });

  it.each([
    ['roles/old.md', 'refused'],
    ['roles/writer.md', 'partly'],
  ])('has a file of a role that cannot be read: %s', (path, type) => {
    const read = readOf(texts);
    const files = new Map<string, FileRead>([...read.files, [path, { why: 'is a link' }]]);
    expect(keptFrom({ ...read, files })).toMatchObject({ type, ...(type === 'partly' ? { invalid: [path] } : {}) });
  });

  it('has no state, and a role file without its headings', () => {
    const kept = keptFrom(readOf({ ...without('team-session.json'), 'roles/writer.md': 'write' }));
    expect(kept).toMatchObject({ type: 'partly', invalid: ['roles/writer.md'] });
  });

  it.each([
    ['a heading is missing', 'write', /^Invalid role file: roles\/writer\.md missing role header$/],
    ['it is of another role', texts['roles/analyst.md'] ?? '', /names another role: analyst$/],
  ])('is not taken up with a role file that no planner corrects: %s', (_, text, message) => {
    const begun = readOf({ ...without('team-session.json', 'task-analysis.json'), 'roles/writer.md': text });
    const place = { file: 'team/roles/writer.md', message: expect.stringMatching(message) };
    expect(keptFrom(begun)).toMatchObject({
      type: 'refused',
      problems: expect.arrayContaining([expect.objectContaining(place)]),
    });
    expect(keptFrom(readOf(without('team-session.json', 'task-analysis.json')))).toMatchObject({ type: 'partly' });
  });

  it('is taken up however much is wrong with what is made anew', () => {
    const tasks = Array.from({ length: 60 }, (_, index) => ({ id: `T-${index}`, subject: 'x', owner: 'no one' }));
    const analysis = { capabilities: [], dependency_graph: {}, roles: [{ name: 'writer', prefix: 'DOC' }], tasks };
    const kept = keptFrom(readOf({ ...texts, 'task-analysis.json': JSON.stringify(analysis) }));
    expect(kept).toMatchObject({ type: 'partly', invalid: ['task-analysis.json'] });
  });

  it.each(['roles/', './roles/'])('gets the role file that it lacks, in agreement with what is there: %s', (at) => {
    const state = (texts['team-session.json'] ?? '').replaceAll('"roles/', `"${at}`);
    const begun = keptFrom(readOf({ ...without('roles/writer.md'), 'team-session.json': state }));
    if (begun.type !== 'partly') throw new Error(begun.type);
    const options = { ...OPTIONS, isThere: true, kept: [...begun.kept] };
    const roles = DIAMOND.roles.map(({ name }) => plannedRole(name));
    const files = filesOf(teamAnswer({ roles, tasks: [plannedTask('X-1', 'writer')] }), options);
    expect(Object.keys(files).filter((path) => !/^(?:wisdom|explorations|shared)/.test(path))).toEqual([
      'roles/writer.md',
    ]);
    expect(problemsOf(teamAnswer({ roles: roles.slice(0, 1) }), options).join('\n')).toContain(
      'Role file not found: roles/writer.md',
    );
  });

  it('gets the state that it lacks from the analysis that is there', () => {
    const begun = keptFrom(readOf(without('team-session.json')));
    if (begun.type !== 'partly') throw new Error(begun.type);
    const files = filesOf(teamAnswer(), { ...OPTIONS, isThere: true, kept: [...begun.kept] });
    const state = JSON.parse(files['team-session.json'] ?? '') as { roles: { name: string }[]; pipeline: unknown };
    expect(state.roles.map(({ name }) => name)).toEqual(['analyst', 'implementer', 'writer']);
    expect(state.pipeline).toMatchObject({ tasks_total: 6 });
  });
});
