import { fc } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { isSlug } from '../../../src/model/slug.ts';
import { checkSession } from '../../../src/playbooks/session/check-session.ts';
import type { FileRead } from '../../../src/playbooks/session/folder-read.ts';
import { sessionError } from '../../../src/squad/sources/session/read-session.ts';
import { parseJson, type Json } from '../../../src/text/json.ts';
import { problemSchema } from '../../../src/text/problem.ts';
import { mutated, nested } from '../../malformed/mutate-json.ts';
import { spread, SPREAD } from '../../support/lane.ts';
import { DIAMOND, sessionTexts, type SessionAbout } from '../../support/session-folder.ts';
import { BASE, BEYOND, CORRECT, FORMS, LOOK, one, put, SPECIFIED, type Texts } from './check-rows.ts';

const STATE = 'team-session.json';
const PLAN = 'task-analysis.json';
const WRITER = 'roles/writer.md';
const RESUME = 'Make what is missing: `squad coordinate --into team --resume`.';
const MAKE = 'Make it again from the objective: `squad coordinate objective.md --into team --resume`.';

function check(texts: Texts, more: Readonly<Record<string, FileRead>> = {}, folders = ['', 'roles', 'artifacts']) {
  const files = new Map<string, FileRead>(Object.entries(texts).map(([file, text]) => [file, { text }]));
  for (const [file, read] of Object.entries(more)) files.set(file, read);
  return checkSession({ folder: 'team', files, folders });
}

/** All that people read. */
function textOf(found: ReturnType<typeof check>): string {
  if (found.ok) return 'ok';
  const { message, next } = sessionError(found);
  return `${message}\nNext: ${next}`;
}

function without(...files: readonly string[]): Texts {
  return Object.fromEntries(Object.entries(BASE).filter(([file]) => !files.includes(file)));
}

/** How many bytes of the one differ from the other: one that is put in or left out counts as one. */
function bytesBetween(a: Texts, b: Texts): number {
  return Object.keys({ ...a, ...b }).reduce((sum, file) => {
    const [from, to] = [Buffer.from(a[file] ?? ''), Buffer.from(b[file] ?? '')];
    if (from.length === to.length) return sum + [...from].filter((byte, index) => byte !== to[index]).length;
    const least = Math.min(from.length, to.length);
    let start = 0;
    while (start < least && from[start] === to[start]) start += 1;
    let end = 0;
    while (end < least - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
    return sum + Math.max(from.length, to.length) - start - end;
  }, 0);
}

describe.each([
  { rows: SPECIFIED, what: 'what the specification refuses' },
  { rows: BEYOND, what: 'what it does not look at' },
  { rows: FORMS, what: 'a field in a form that it may not have' },
])('$what, beside a session that differs in a byte', ({ rows }) => {
  it.each(rows)('$what', ({ edit, from = (texts) => texts, bytes = 1, text }) => {
    const valid = from(BASE);
    const broken = edit(valid);
    expect(bytesBetween(valid, broken)).toBe(bytes);
    expect(textOf(check(valid))).toBe('ok');
    expect(textOf(check(broken))).toBe(text);
  });
});

describe('a folder that lacks something', () => {
  it('is not there', () => {
    const next = 'Name the folder of a session, or make one: `squad coordinate objective.md --into team`.';
    const text = `Session directory not found: team\nteam:1: Session directory not found: team\nNext: ${next}`;
    expect(textOf(check({}, {}, []))).toBe(text);
  });

  it('is not there, and its path is whole and one word in the command', () => {
    const folder = `my ${'x'.repeat(300)}`;
    const checked = checkSession({ folder, files: new Map(), folders: [] });
    expect(checked).toMatchObject({
      first: `Session directory not found: ${folder}`,
      next: expect.stringContaining(`--into '${folder}'\``) as string,
    });
  });

  it.each([['roles'], ['']])('may have what it seems to lack, if squad did not see all of it: %s', (path) => {
    const files = new Map<string, FileRead>(Object.entries(without(WRITER)).map(([file, text]) => [file, { text }]));
    files.set(path, { why: 'holds more than 10000 files' });
    const checked = checkSession({ folder: 'team', files, folders: ['', 'roles'] });
    expect(checked).toMatchObject({ first: expect.stringContaining('holds more than 10000 files') as string });
  });

  it.each([
    { file: STATE, text: one(`${STATE}:1`, 'Invalid session: team-session.json missing', { next: MAKE }) },
    { file: PLAN, text: one(`${PLAN}:1`, 'Invalid session: task-analysis.json missing', { next: RESUME }) },
    { file: WRITER, text: one(`${WRITER}:1`, 'Role file not found: roles/writer.md', { next: RESUME }) },
  ])('has no $file', ({ file, text }) => {
    expect(textOf(check(without(file)))).toBe(text);
  });

  it('has no roles/, or nothing in it', () => {
    const texts = without('roles/analyst.md', WRITER);
    const missing = one('roles:1', 'Invalid session: roles/ directory missing', { next: RESUME });
    expect(textOf(check(texts, {}, ['']))).toBe(missing);
    expect(textOf(check(texts))).toBe(one('roles:1', 'Invalid session: no role files in roles/', { next: RESUME }));
  });

  it('has nothing: the first line is where the algorithm stops, and all is listed', () => {
    expect(textOf(check({}))).toBe(
      [
        'Invalid session: team-session.json missing',
        'team/team-session.json:1: Invalid session: team-session.json missing',
        'team/task-analysis.json:1: Invalid session: task-analysis.json missing',
        'team/roles:1: Invalid session: no role files in roles/',
        `Next: ${MAKE}`,
      ].join('\n'),
    );
  });

  it('needs no other files', () => {
    const needed = [STATE, PLAN, 'roles/analyst.md', WRITER];
    const texts = Object.fromEntries(Object.entries(BASE).filter(([file]) => needed.includes(file)));
    expect(textOf(check(texts, {}, ['', 'roles']))).toBe('ok');
  });
});

describe('a file that cannot be used', () => {
  const WHY = { why: 'is larger than 1 MiB' };
  const corrupt = (file: string, line: number, detail: string): string =>
    one(`${file}:${line}`, `Invalid session: ${file} corrupt`, {
      detail,
      next: [STATE, PLAN].includes(file) ? LOOK(file) : CORRECT(file),
    });

  it.each([
    { file: STATE, text: corrupt(STATE, 1, 'it is larger than 1 MiB') },
    { file: PLAN, text: corrupt(PLAN, 1, 'it is larger than 1 MiB') },
    { file: WRITER, text: one(`${WRITER}:1`, 'Invalid role file: roles/writer.md is larger than 1 MiB') },
    {
      file: 'shared-memory.json',
      text: one('shared-memory.json:1', 'Invalid session: shared-memory.json is larger than 1 MiB'),
    },
    {
      file: 'artifacts/a-1.md',
      text: one('artifacts/a-1.md:1', 'Invalid session: artifacts/a-1.md is larger than 1 MiB'),
    },
    { file: 'roles/more.md', text: one('roles/more.md:1', 'Invalid session: roles/more.md is larger than 1 MiB') },
  ])('$file', ({ file, text }) => {
    expect(textOf(check(BASE, { [file]: WHY }))).toBe(text);
  });

  it('is the folder, when it would exceed 32 MiB at the end of a run', () => {
    const MIB = 1024 * 1024;
    const held = Object.values(BASE).reduce((sum, text) => sum + text.length, 0);
    const others = Array.from(
      { length: 31 },
      (_, index) => [`artifacts/${index}.md`, { text: 'x'.repeat(MIB) }] as const,
    );
    const withLast = (free: number): string =>
      textOf(
        check(BASE, { ...Object.fromEntries(others), 'artifacts/last.md': { text: 'x'.repeat(MIB - held - free) } }),
      );
    expect(withLast(5_000)).toBe('ok');
    const why = 'the folder would exceed the 32 MiB that squad reads of a session when all tasks are done';
    const text = `Invalid session: ${why}`;
    expect(withLast(0)).toBe(`${text}\nteam:1: ${text}\nNext: Correct team, then run \`squad session check team\`.`);
  });

  it('roles/ is a link', () => {
    const text = one('roles:1', 'Invalid session: roles/ directory missing', { detail: 'it is a link', next: RESUME });
    expect(textOf(check(BASE, { roles: { why: 'is a link' } }, ['']))).toBe(text);
  });

  it.each([STATE, PLAN, 'shared-memory.json'])('%s is nested 10,000 deep', (file) => {
    const deep = `{"a":\n${'['.repeat(10_000)}${']'.repeat(10_000)}}`;
    expect(textOf(check({ ...BASE, [file]: deep }))).toBe(corrupt(file, 2, 'it is nested more than 100 deep'));
  });

  it.each(['shared-memory.json', 'explorations/cache-index.json', 'explorations/explore-x.json'])(
    '%s is no JSON',
    (file) => {
      expect(textOf(check({ ...BASE, [file]: '{\n"a": 1' }))).toBe(corrupt(file, 2, 'it ends too early'));
    },
  );

  it('shared memory has no keys', () => {
    expect(textOf(check({ ...BASE, 'shared-memory.json': '[]' }))).toBe(
      corrupt('shared-memory.json', 1, 'it is not a JSON object'),
    );
  });

  it('a role file is longer than instructions may be', () => {
    const text = `${BASE[WRITER]}${'x'.repeat(64 * 1024)}`;
    const message =
      'Invalid role file: roles/writer.md is larger than 64 KiB, the most that an agent’s instructions may have';
    expect(textOf(check({ ...BASE, [WRITER]: text }))).toBe(one(`${WRITER}:1`, message));
  });
});

describe('many problems', () => {
  it('come in the order of the algorithm, then what it does not look at', () => {
    const broken = put(PLAN, '"B-2"', '"B-7"')(put(STATE, 'active', 'Active')(put(WRITER, '## E', '#E')(BASE)));
    expect(textOf(check(broken))).toBe(
      [
        'team-session.json has invalid status',
        'team/team-session.json:4: team-session.json has invalid status',
        'team/roles/writer.md:1: Invalid role file: roles/writer.md missing required section: Execution',
        'team/task-analysis.json:25: task-analysis.json has an unknown task in dependency_graph: B-7',
        `Next: ${CORRECT(STATE)}`,
      ].join('\n'),
    );
  });

  it('are counted from the fifty-first on', () => {
    const tasks = Array.from({ length: 60 }, (_, index) => ({ id: `T-${index}`, role: 'nobody' }));
    const found = check(sessionTexts({ roles: [{ name: 'writer' }], tasks }));
    const problems = found.ok ? [] : found.problems;
    expect(problems.length).toBe(51);
    expect(problems.at(-1)).toEqual({ file: 'team', line: 1, message: '10 more problems of this session' });
  });

  it('a session has 2,000 tasks at most', () => {
    const about = (count: number): SessionAbout => ({
      roles: [{ name: 'writer' }],
      tasks: Array.from({ length: count }, (_, index) => ({
        id: `T-${index}`,
        role: 'writer',
        needs: index === 0 ? [] : [`T-${index - 1}`],
      })),
    });
    expect(textOf(check(sessionTexts(about(2000))))).toBe('ok');
    const text = textOf(check(sessionTexts(about(2001))));
    expect(text.split('\n')[0]).toBe('task-analysis.json has 2001 tasks; a session has at most 2000');
    expect(text.split('\n').length).toBe(3);
  });

  it('a long circle is named by its first tasks', () => {
    const tasks = Array.from({ length: 30 }, (_, index) => ({
      id: `T-${index}`,
      role: 'writer',
      needs: [`T-${(index + 1) % 30}`],
    }));
    const [first] = textOf(check(sessionTexts({ roles: [{ name: 'writer' }], tasks }))).split('\n');
    expect(first).toBe(
      `task-analysis.json has a circle: ${Array.from({ length: 10 }, (_, index) => `T-${index}`).join(' needs ')} … (30 tasks)`,
    );
  });
});

describe('the session of a folder', () => {
  it('has what the files say', () => {
    const texts = {
      ...BASE,
      'wisdom/issues.md': '# Issues\n',
      'discussions/one.md': 'x',
      'shared-memory.json': '{"k":[1]}',
    };
    expect(check({ ...texts, 'explorations/explore-a.json': '{}' }, {}, ['', 'roles'])).toEqual({
      ok: true,
      session: {
        id: 'TC-make-things-2026-02-27',
        team: 'make-things',
        description: 'Make things',
        status: 'active',
        roles: [
          {
            ...{ name: 'analyst', slug: 'analyst', prefix: 'A', responsibility: 'read-only', innerLoop: false },
            ...{ file: 'roles/analyst.md', text: BASE['roles/analyst.md'] },
          },
          {
            ...{ name: 'writer', slug: 'writer', prefix: 'B', responsibility: null, innerLoop: false },
            ...{ file: WRITER, text: BASE[WRITER] },
          },
        ],
        tasks: [
          { id: 'A-1', slug: 'a-1', subject: 'Do A-1', role: 'analyst', needs: [] },
          { id: 'B-1', slug: 'b-1', subject: 'Do B-1', role: 'writer', needs: ['a-1'] },
          { id: 'B-2', slug: 'b-2', subject: 'Do B-2', role: 'writer', needs: ['b-1'] },
        ],
        completed: ['a-1', 'b-1'],
        start: {
          state: BASE[STATE],
          memory: { k: [1] },
          wisdom: { learnings: '', decisions: '', issues: '# Issues\n' },
          explorations: { index: {}, files: [{ name: 'explore-a.json', text: '{}' }] },
          artifacts: [{ name: 'a-1.md', text: '# What A-1 made\n', isCut: false }],
          discussions: ['one.md'],
          size: Object.values({ ...texts, 'explorations/explore-a.json': '{}' }).join('').length,
          hashes: {},
        },
      },
    });
  });

  it('cuts artifacts at 16 KiB, between two characters', () => {
    const found = check({ ...BASE, 'artifacts/a-1.md': `x${'ä'.repeat(20_000)}` });
    const [artifact] = found.ok ? found.session.start.artifacts : [];
    expect(artifact).toEqual({ name: 'a-1.md', text: `x${'ä'.repeat(8191)}`, isCut: true });
  });

  it.each(['任务', 'x'.repeat(5000), '../../x', 'CON', '__proto__', 'a b', '-', 'constructor'])(
    'takes the id %s',
    (id) => {
      const role = /^[^/]{1,60}$/.test(id) ? id : 'writer';
      const tasks = [
        { id, role },
        { id: 'B', role, needs: [id] },
      ];
      const texts = sessionTexts({ roles: [{ name: role }], tasks });
      const found = check(texts);
      expect(textOf(found)).toBe('ok');
      const [first, second] = found.ok ? found.session.tasks : [];
      expect(first).toMatchObject({ id });
      expect(isSlug(first?.slug ?? '')).toBe(true);
      expect(second?.needs).toEqual([first?.slug]);
    },
  );

  it.each(['# Role: `writer`', '# Role:writer', '# Role: Writer #', 'Role: writer\n===', '# Role: *WRITER*'])(
    'takes the header %s',
    (header) => {
      expect(textOf(check(put(WRITER, '# Role: writer', header)(BASE)))).toBe('ok');
    },
  );
});

/** A folder with some files changed, lost, put in the place of others, or not readable. */
const mutatedFolder = fc
  .tuple(
    mutated(...[STATE, PLAN].map((file) => (parseJson(sessionTexts(DIAMOND)[file] ?? '') ?? null) as Json)),
    fc.constantFrom(STATE, PLAN, 'none'),
    fc.array(
      fc.record({
        file: fc.constantFrom(...Object.keys(sessionTexts(DIAMOND)), 'roles', 'artifacts/x.md', '.msg'),
        do: fc.constantFrom('lose', 'cut', 'byte', 'why', 'swap', 'deep', 'any'),
        at: fc.nat(5000),
        text: fc.string({ unit: 'binary', maxLength: 30 }),
      }),
      { maxLength: 3 },
    ),
  )
  .map(([json, target, edits]) => {
    const texts = new Map<string, FileRead>(
      Object.entries(sessionTexts(DIAMOND)).map(([file, text]) => [file, { text }]),
    );
    if (target !== 'none') texts.set(target, { text: JSON.stringify(json, null, 2) });
    for (const { file, do: what, at, text } of edits) {
      const read = texts.get(file);
      const before = read !== undefined && 'text' in read ? read.text : '';
      const index = at % (before.length + 1);
      if (what === 'lose') texts.delete(file);
      else if (what === 'why') texts.set(file, { why: 'is a link', line: (at % 9) + 1 });
      else if (what === 'deep') texts.set(file, { text: JSON.stringify(nested(10 + (at % 400))) });
      else if (what === 'any') texts.set(file, { text });
      else if (what === 'cut') texts.set(file, { text: before.slice(0, index) });
      else if (what === 'swap') texts.set(file, texts.get(PLAN) ?? { text });
      else texts.set(file, { text: `${before.slice(0, index)}${text}${before.slice(index + 1)}` });
    }
    return texts;
  });

describe('mutated folders', () => {
  it('become sessions or problems', { ...SPREAD, timeout: 120_000 }, () => {
    fc.assert(fc.property(mutatedFolder, expectSessionOrProblems), { numRuns: spread(500, 5000) });
  });
});

function expectSessionOrProblems(files: ReadonlyMap<string, FileRead>): void {
  const found = checkSession({ folder: 'team', files, folders: ['', 'roles'] });
  if (found.ok) {
    const { tasks, roles, completed } = found.session;
    const slugs = new Set(tasks.map(({ slug }) => slug));
    expect([...slugs].filter((slug) => !isSlug(slug))).toEqual([]);
    expect(slugs.size).toBe(tasks.length);
    expect([...tasks.flatMap(({ needs }) => needs), ...completed].filter((slug) => !slugs.has(slug))).toEqual([]);
    expect(tasks.filter(({ role }) => !roles.some(({ slug }) => slug === role))).toEqual([]);
    expect(JSON.parse(JSON.stringify(found.session))).toEqual(found.session);
    return;
  }
  const { first, problems, next } = found;
  expect(problems[0]?.message.startsWith(first)).toBe(true);
  expect(problems.filter((problem) => !problemSchema.safeParse(problem).success)).toEqual([]);
  const lines = [first, next, ...problems.map(({ message }) => message)];
  expect(lines.filter((line) => /[\u0000-\u001f]/.test(line))).toEqual([]);
  expect(sessionError(found).exitCode).toBe(65);
}
