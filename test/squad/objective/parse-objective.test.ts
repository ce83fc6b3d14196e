import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { objectiveSchema, type Objective } from '../../../src/model/objective.ts';
import { parseObjective } from '../../../src/squad/objective/parse-objective.ts';

const HEAD = '# T\n\n## Goals\n\n- g\n\n## Success Criteria\n\n';
/** A file whose only odd thing is its criteria, which start on line 9. */
const withCriteria = (text: string): string => `${HEAD}${text}\n`;
/** A whole file; what is added starts on line 10. */
const withMore = (text: string): string => `${HEAD}- c\n${text}\n`;

function objective(text: string): Objective {
  const result = parseObjective(text, 'o.md');
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return objectiveSchema.parse(result.objective);
}

function problems(text: string): string[] {
  const result = parseObjective(text, 'o.md');
  if (result.ok) return [];
  expect(result.problems.every(({ file }) => file === 'o.md')).toBe(true);
  return result.problems.map(({ line, message }) => `${line}: ${message}`);
}

describe('the whole file', () => {
  it('gives every part, and the text as it was', () => {
    const text = readFileSync(new URL('../../../docs/objective-files.md', import.meta.url), 'utf8');
    const example = /```markdown\n([^]*?)```/.exec(text)?.[1] ?? '';
    expect(objective(example)).toEqual({
      file: 'o.md',
      title: 'Let people log in',
      goals: [
        'Add a login form and a logout button',
        'Keep people logged in for a day\n- also after the server was restarted',
      ],
      criteria: [
        { text: 'All tests pass', command: 'npm test', done: false, line: 17 },
        { text: 'No password is ever logged', command: '! grep -rn "password=" logs/', done: false, line: 18 },
        { text: 'The form distinguishes a wrong password from a locked account', done: false, line: 19 },
        { text: 'The table of users exists', done: true, line: 20 },
      ],
      constraints: ['Keep PostgreSQL', 'No other login providers'],
      context:
        'The server is written with Express; `docs/architecture.md` has the overview.\n\n' +
        '## Notes\n\nsquad ignores this section. People and agents read it.',
      priority: 'High',
      deadline: { text: '2026-12-24T17:00+01:00', at: Date.UTC(2026, 11, 24, 16), line: 37 },
      frontMatter: { name: 'login', playbook: 'delivery', limits: { minutes: 240, usd: 15 } },
      text: example,
    });
  });

  it('needs no more than a title, a goal and a criterion', () => {
    expect(objective('# T\n## Goals\n- g\n## Success Criteria\n- c')).toMatchObject({
      title: 'T',
      goals: ['g'],
      criteria: [{ text: 'c', done: false, line: 5 }],
      constraints: [],
      context: '',
      frontMatter: {},
    });
  });

  it.each([
    ['a byte order mark', `\ufeff${withMore('')}`],
    ['Windows line ends', withMore('## Priority\n\nHigh').replaceAll('\n', '\r\n')],
    ['old line ends', withMore('').replaceAll('\n', '\r')],
  ])('reads %s and keeps it in the text', (_title, text) => {
    expect(objective(text)).toMatchObject({ title: 'T', goals: ['g'], text });
  });

  it.each([
    ['## GOALS', 'case'],
    ['## Goal', 'the singular'],
    ['## **Goals:**', 'emphasis and a colon'],
    ['## Goals ##', 'a closed heading'],
    ['Goals\n-----', 'an underlined heading'],
    ['##  \tGoals', 'wide space'],
  ])('takes %s (%s)', (heading) => {
    expect(objective(`# T\n${heading}\n- g\n## success criteria\n- c`).goals).toEqual(['g']);
  });

  it('reads lists of every kind, and only those at the top', () => {
    const text =
      '# T\n## Goals\ntext\n* a\n  wrapped\n\n1) [ ] b\n\n> - not this\n\n```\n- nor this\n```\n### More\n+ c\n\n  second\n';
    expect(objective(`${text}## Success Criteria\n- c`).goals).toEqual(['a wrapped', 'b', 'c\nsecond']);
  });

  it('makes context of what has no place of its own', () => {
    const text =
      'before\n\n# T\n\nlead\n\n## Goals\n- g\n\n### Why\n\nx\n\n## Überblick 🚀\ntext\n\n## Success Criteria\n- c\n## Context\nhere\n#### Deep\n';
    expect(objective(text).context).toBe('before\n\nlead\n\n## Überblick 🚀\ntext\n\nhere\n#### Deep');
  });

  it('does not read what is commented out', () => {
    expect(objective(withMore('<!--\n## Deadline\nsoon\n-->')).deadline).toBeUndefined();
  });
});

describe('what is missing or malformed', () => {
  it.each<[string, string, string[]]>([
    ['nothing', '', ['1: there is no objective in this file']],
    ['blank lines', ' \n\t\n', ['1: there is no objective in this file']],
    ['front matter alone', '---\nname: a\n---\n', ['1: there is no objective in this file']],
    [
      'a sentence',
      '\nMake it work.\n',
      [
        '2: the title is missing: write the objective as one “# …” heading',
        '2: goals are missing: list them in a “## Goals” section',
        '2: success criteria are missing: list them in a “## Success Criteria” section',
      ],
    ],
    ['an empty title', `#\n${HEAD.slice(4)}- c`, ['1: the title is empty']],
    ['a title that is a label only', `# Objective:\n${HEAD.slice(4)}- c`, ['1: the title is empty']],
    ['a long title', `# ${'x'.repeat(201)}\n${HEAD.slice(4)}- c`, ['1: the title is longer than 200 characters']],
    ['two titles', withMore('# U'), ['10: a second title (the first one is on line 1); use “##” for a section']],
    [
      'a section as a title',
      '# T\n# Goals\n- g\n## Success Criteria\n- c',
      ['2: “# Goals” is a title; a section starts with “##”'],
    ],
    [
      'a section too deep',
      '# T\n## Success Criteria\n- c\n### Goals\n- g',
      ['4: “### Goals” is inside another section; write “## Goals”'],
    ],
    [
      'a mistyped section',
      '# T\n## Gaols\n- g\n## Success Criteria\n- c',
      ['2: “## Gaols” is not a known section; is it “## Goals”?'],
    ],
    [
      'a letter of another alphabet',
      '# T\n## G\u043eals\n- g\n## Success Criteria\n- c',
      ['2: “## G\u043eals” is not a known section; is it “## Goals”?'],
    ],
    [
      'a section twice',
      withMore('## goals\n- h'),
      ['10: a second “## Goals” (the first one is on line 3); make one of them'],
    ],
    [
      'prose instead of a list',
      '# T\n## Goals\nx\n## Success Criteria\ny',
      [
        '2: “## Goals” has no list; start each entry with “-” or a number',
        '4: “## Success Criteria” has no list; start each entry with “-” or a number',
      ],
    ],
    [
      'constraints without a list',
      withMore('## Constraints\nx'),
      ['10: “## Constraints” has no list; start each entry with “-” or a number'],
    ],
    ['an empty goal', '# T\n## Goals\n- g\n-\n## Success Criteria\n- c', ['4: an empty entry in “## Goals”']],
    [
      'an empty priority',
      withMore('## Priority\n'),
      ['10: “## Priority” is empty; say it in a word, or leave the section out'],
    ],
    [
      'a long priority',
      withMore(`## Priority\n${'x'.repeat(101)}`),
      ['11: the priority is longer than 100 characters'],
    ],
    [
      'an empty deadline',
      withMore('## Deadline'),
      ['10: “## Deadline” is empty; write a date, or leave the section out'],
    ],
    [
      'a vague deadline',
      withMore('## Deadline\n\nsoon'),
      [
        '12: the deadline “soon” is neither a date (2026-12-24) nor a date and time with a zone (2026-12-24T17:00+01:00)',
      ],
    ],
    ['a binary file', `${HEAD}- c\0`, ['9: contains a NUL character; an objective is plain text']],
    [
      'a huge file',
      'ä'.repeat(300_000),
      ['1: larger than 512 KiB; put the details into files of the repository and name them'],
    ],
    [
      'a code block that is never closed',
      '# T\n## Goals\n- g\n```\n## Success Criteria\n- c',
      ['1: success criteria are missing: list them in a “## Success Criteria” section'],
    ],
  ])('%s', (_title, text, expected) => {
    expect(problems(text)).toEqual(expected);
  });

  it('always shows how it would be right', () => {
    const result = parseObjective('x\n## Deadline\nsoon\n## Constraints\nx\n## Priority\n', 'o.md');
    expect(result.ok ? [] : result.problems.map(({ example }) => example?.split('\n')[0])).toEqual([
      '# Objective: Let people log in',
      '## Goals',
      '## Success Criteria',
      '## Deadline',
      '## Constraints',
      '## Priority',
    ]);
  });

  it('counts what comes after fifty problems', () => {
    const found = problems(withCriteria('-\n'.repeat(60)));
    expect(found).toHaveLength(51);
    expect(found.at(-1)).toBe('59: 10 more problems from this line on');
  });
});

describe('success criteria', () => {
  it.each<[string, string, string | undefined]>([
    ['plain', 'plain', undefined],
    ['ok (run: npm test)', 'ok', 'npm test'],
    ['ok (Run:npm test).', 'ok.', 'npm test'],
    ['ok (run: npm test) on Linux', 'ok on Linux', 'npm test'],
    ['ok (run: node -e "f(1)")', 'ok', 'node -e "f(1)"'],
    ['ok (run: (cd a && make))', 'ok', '(cd a && make)'],
    [`ok (run: grep ')' a)`, 'ok', `grep ')' a`],
    ['ok (run: echo \\))', 'ok', 'echo \\)'],
    ['ok (run: `echo ")"`)', 'ok', 'echo ")"'],
    ['ok (run: ``echo `date` ``)', 'ok', 'echo `date`'],
    ['ok\n  (run: npm test\n  -- --all)', 'ok', 'npm test -- --all'],
    ['ok\n\n  (run: npm test)', 'ok', 'npm test'],
    ['ok\n  - detail', 'ok\n- detail', undefined],
    ['the docs explain `(run: …)` well', 'the docs explain `(run: …)` well', undefined],
    ['shows `usage (run: x)` (run: `y`)', 'shows `usage (run: x)`', 'y'],
    ['a ` alone (run: x)', 'a ` alone', 'x'],
    ['ok\n  ```\n  (run: x)\n  ```', 'ok\n```\n(run: x)\n```', undefined],
    ['[a link](https://example.com)', '[a link](https://example.com)', undefined],
  ])('%j', (text, expected, command) => {
    const [criterion] = objective(withCriteria(`- ${text}`)).criteria;
    expect(criterion).toEqual({ text: expected, done: false, line: 9, ...(command === undefined ? {} : { command }) });
  });

  it.each([
    ['[ ] a', false],
    ['[x] a', true],
    ['[X] a', true],
    ['a', false],
  ])('reads the state of %j', (text, done) => {
    expect(objective(withCriteria(`- ${text}`)).criteria).toEqual([{ text: 'a', done, line: 9 }]);
  });

  const NOT_CLOSED = '“(run: …)” is not closed: a parenthesis, quote or backtick is missing';
  it.each([
    ['[] a', 'a checkbox is “[ ]” or “[x]”, with a space after it'],
    ['[ x ] a', 'a checkbox is “[ ]” or “[x]”, with a space after it'],
    ['[x]a', 'a checkbox is “[ ]” or “[x]”, with a space after it'],
    ['[ ]', 'an empty criterion'],
    ['a (run: npm test', NOT_CLOSED],
    [`a (run: echo don't)`, NOT_CLOSED],
    ['a (run: `x)', NOT_CLOSED],
    ['a (run: `x` y)', NOT_CLOSED],
    ['a `(run: x)`', '“(run: …)” stands in a code span; put the backticks inside its parentheses, or leave them out'],
    ['a (run: )', 'the command is empty'],
    ['a (run:)', 'the command is empty'],
    ['(run: npm test)', 'a criterion says in words what its command proves'],
    ['a (run: x) (run: y)', 'a criterion has one “(run: …)”; make two criteria of it'],
    ['a (run: x)\n\n  (run: y)', 'a criterion has one “(run: …)”; make two criteria of it'],
    [
      'a (run: ls \u202e)',
      'the command holds invisible characters; it is shown before it runs, so everything in it must be visible',
    ],
    [
      'a (run: ls \u001b[8m)',
      'the command holds invisible characters; it is shown before it runs, so everything in it must be visible',
    ],
    [`a (run: ${'x'.repeat(4097)})`, 'the command is longer than 4096 characters; put it into a script and run that'],
  ])('refuses %j', (text, message) => {
    expect(problems(withCriteria(`- ok\n- ${text}`))).toEqual([`10: ${message}`]);
  });

  it('refuses a command in a list of its own', () => {
    expect(problems(withCriteria('- a\n  - b\n  - (run: x)'))).toEqual([
      '11: “(run: …)” stands inside a criterion’s own list or quote; put it on the criterion itself',
    ]);
  });
});

describe('front matter', () => {
  const body = '\n# T\n## Goals\n- g\n## Success Criteria\n- c\n';

  it('is optional, may be empty, and leaves line numbers alone', () => {
    expect(objective(`---\n---${body}`)).toMatchObject({ frontMatter: {}, criteria: [{ line: 7 }] });
    expect(objective(`--- \r\nname: a\r\n---\r\n${body}`)).toMatchObject({
      frontMatter: { name: 'a' },
      criteria: [{ line: 9 }],
    });
  });

  it.each<[string, string, string[]]>([
    ['no end', 'name: a', ['1: the front matter that starts here has no closing line “---”']],
    ['a mistyped key', 'limit: 3\n---', ['2: unknown key “limit”; did you mean “limits”?']],
    ['a mistyped limit', 'limits: { minute: 3 }\n---', ['2: unknown key “minute” in limits; did you mean “minutes”?']],
    ['a section', 'deadline: 2026-12-24\n---', ['2: unknown key “deadline”: write this in the section “## Deadline”']],
    [
      'a bad name',
      'playbook: delivery\nname: ../x\n---',
      ['3: name: “../x” needs lower-case letters, digits and dashes, starting with a letter, at most 32 characters'],
    ],
    ['a playbook of its own', 'playbook: { stages: [] }\n---', ['2: playbook must be text, not a mapping']],
    ['a prototype', '__proto__: { a: 1 }\n---', ['2: the key “__proto__” is not allowed']],
    ['an alias', 'name: &a x\nplaybook: *a\n---', ['3: an alias (“*…”) is not supported; write the value out']],
    ['text', 'hello\n---', ['2: must contain settings by name: “key: value”']],
    ['too much', `#${'x'.repeat(270_000)}\n---`, ['2: larger than 256 KiB; only settings belong in this file']],
  ])('%s', (_title, text, expected) => {
    expect(problems(`---\n${text}${body}`)).toEqual(expected);
  });

  it('tells its problems together with those of the Markdown', () => {
    expect(problems('---\nx: 1\n---\n# T\n## Goals\n- g')).toEqual([
      '2: unknown key “x”; known keys: name, playbook, limits, protect, checks, review',
      '4: success criteria are missing: list them in a “## Success Criteria” section',
    ]);
  });
});
