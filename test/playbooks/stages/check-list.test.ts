import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkList } from '../../../src/playbooks/stages/check-list.ts';
import { stageListSchema } from '../../../src/playbooks/stages/stage-schema.ts';
import { parseSettings } from '../../../src/squad/settings/parse-settings.ts';
import { KNOWN_NAMES } from '../../support/known-names.ts';

const AGENTS =
  'agents:\n  - { name: b, role: builder, runtime: claude }\n  - { name: r, role: reviewer, runtime: claude }\n';

/** The problems of a file whose list of stages begins on its third line. */
function problems(stages: string, agents = ''): string[] {
  const parsed = parseSettings(`playbook:\n  stages:\n${stages}\n${agents}`, 'squad.yaml', KNOWN_NAMES);
  return parsed.ok ? [] : parsed.problems.map(({ line, column, message }) => `${line}:${column}: ${message}`);
}
const stage = (id: string, more = '', made = 'makes: code'): string =>
  `    - { id: ${id}, by: [${made === VERDICT ? 'reviewer' : 'builder'}], brief: "Do it. {objective}", ${made}${more === '' ? '' : `, ${more}`} }`;
const list = (...stages: readonly string[]): string => stages.join('\n');
/** The places of a stage of one line differ in their columns only. */
const messages = (text: string, agents?: string): string[] =>
  problems(text, agents).map((one) => one.replace(/^(\d+):\d+: playbook\.stages/, '$1: '));

const COUNT = {
  type: 'object',
  properties: { count: { type: ['integer', 'null'] }, files: { type: 'array', items: { type: 'string' } } },
  required: ['count', 'files'],
  additionalProperties: false,
};
const VERDICT = 'makes: { answer: verdict }';
const TASKS = 'makes: { document: plan.md, answer: tasks }';
const COMMIT = 'makes: { commit: true }';

describe('a list of stages', () => {
  it('may use every key', () => {
    const text = list(
      '    - id: PLAN',
      '      title: Plan of the work',
      '      by: [pm, builder]',
      '      needs: []',
      '      brief: |',
      '        Plan {objective} by {criteria} within {constraints}: {context} {{not a placeholder}}',
      '      makes: { document: plans/plan.md, headings: [Steps, "What is *left*"], answer: tasks }',
      '      review: { id: PLAN_REVIEW, by: [reviewer, pm], quorum: any, rounds: 2 }',
      stage('BUILD', 'each: { of: PLAN }, onFail: skip').replace('{objective}', '{item} {of:PLAN} {documents}'),
      '    - { id: TEST, brief: "Run them.", makes: { checks: [npm test, "npm run lint"] } }',
      stage('DOCS', 'requires: [{ only: [docs, "*.md"] }, { file: docs/api.md }]'),
      stage('CRITERIA', 'needs: [BUILD, DOCS]', 'makes: { checks: criteria }'),
      stage('COUNT', 'session: { of: PLAN }', `makes: { answer: ${JSON.stringify(COUNT)} }`),
      stage('JUDGE', 'needs: [TEST, CRITERIA, COUNT], judges: { rounds: 4, else: { fix: BUILD } }', VERDICT),
      stage('AGAIN', 'judges: { rounds: 1, else: { redo: BUILD } }, session: role', VERDICT),
      stage('CLEAN', '', 'makes: { removes: documents }'),
    );
    expect(problems(text)).toEqual([]);
    expect(problems(text, AGENTS)).toEqual([]);
  });

  it('reads `makes: code` as a mapping', () => {
    const written = { id: 'A', by: ['builder'], brief: 'Do it.', makes: 'code' };
    expect(stageListSchema.parse({ stages: [written] })).toEqual({ stages: [{ ...written, makes: { code: true } }] });
  });
});

describe('what is wrong with a list', () => {
  it('is said all at once, in the order of the file, each with a correct example', () => {
    const text = [
      'playbook:',
      '  stages:',
      '    - id: SPEC',
      '      by: [bilder]',
      '      brif: x',
      '      makes: { document: ../spec.md }',
      '    - id: spec',
      '      by: [builder]',
      '      needs: [SPCE]',
      '      brief: "{objectiv}"',
      '      makes: { document: A.md }',
      '      review: { id: SPEC, by: [builder], rounds: 0 }',
      '    - id: TEST',
      '      by: [builder]',
      '      brief: Test it.',
      '      makes: { document: ./a.md }',
      '      judges: { rounds: 4, else: { fix: BUILD } }',
      'agents:',
      '  - { name: b, role: builder, runtime: claude }',
    ].join('\n');
    const parsed = parseSettings(text, 'squad.yaml', KNOWN_NAMES);
    const found = parsed.ok ? [] : parsed.problems;
    expect(found.map(({ line, message }) => `${line}: ${message}`)).toMatchInlineSnapshot(`
      [
        "3: playbook.stages[0].brief is missing",
        "4: playbook.stages[0].by[0]: no agent has the role “bilder”; did you mean “builder”?",
        "5: unknown key “brif” in playbook.stages[0]; did you mean “brief”?",
        "6: playbook.stages[0].makes.document: “../spec.md” needs a path in the documents’ folder, such as spec.md, without “.”, “..”, “.git”, “*” and the like",
        "7: playbook.stages[1].id: “spec” and “SPEC” (playbook.stages[0].id) both become “spec”; give it another id",
        "9: playbook.stages[1].needs[0]: no stage is called “SPCE”; did you mean “SPEC”?",
        "10: playbook.stages[1].brief: “{objectiv}” is no placeholder; did you mean “{objective}”, or write “{{” for a brace?",
        "12: playbook.stages[1].review.id: “SPEC” is playbook.stages[0].id already; each stage and each review needs its own",
        "12: playbook.stages[1].review.by: no role reviews its own work, and “builder” does this stage; name another role that an agent has",
        "12: playbook.stages[1].review.rounds must be more than 0",
        "16: playbook.stages[2].makes.document: “./a.md” needs a path in the documents’ folder, such as spec.md, without “.”, “..”, “.git”, “*” and the like",
        "16: playbook.stages[2].makes.document: “./a.md” is the document of playbook.stages[1].makes.document already, which is written “A.md”",
        "17: playbook.stages[2].judges: a stage that judges makes \`answer: verdict\`, or \`approval: true\`",
        "17: playbook.stages[2].judges.else.fix: no stage is called “BUILD”; there are “SPEC”, “spec”, “TEST”",
      ]
    `);
    expect(
      found.filter(({ file, example }) => file !== 'squad.yaml' || example === undefined || example === ''),
    ).toEqual([]);
  });

  it.each<[what: string, stages: string, expected: string[]]>([
    ['no stage', '    []', ['3: : a list has no stage']],
    ['no mapping', '    - BUILD', ['3: [0] must be a mapping, not “BUILD”']],
    [
      'an unknown key',
      stage('A', 'onfail: skip'),
      ['3:73: unknown key “onfail” in playbook.stages[0]; did you mean “onFail”?'],
    ],
    ['a missing key', '    - { id: A, by: [builder], makes: code }', ['3: [0].brief is missing']],
    [
      'an empty brief',
      stage('A').replace('Do it. {objective}', '  '),
      ['3: [0].brief: “” says nothing; say what to do'],
    ],
    ['nobody at all', '    - { id: A, brief: x, makes: code }', ['3: [0].by: is missing; say which role works on it']],
    [
      'a requirement of what makes no change',
      stage('A', 'requires: [{ file: a.md }]', `makes: { answer: ${JSON.stringify(COUNT)} }`),
      ['3: [0].requires: only of a document, code or a commit does the engine check files and commits'],
    ],
    [
      'two requirements in one, and none',
      stage('A', 'requires: [{ only: [src], file: a.md }, {}]'),
      [
        '3: [0].requires[0]: a mapping takes one of `only`, `file`, `pr`; write an entry for each',
        '3: [0].requires[1]: a mapping takes one of `only`, `file`, `pr`; write an entry for each',
      ],
    ],
    [
      'paths that are none',
      stage('A', 'requires: [{ only: [../x, .git/config] }, { file: "*.md" }, { only: [] }]'),
      [
        '3: [0].requires[0].only[0]: “../x” needs a path in the repository, such as docs/spec.md, without “.”, “..”, “.git” and the like',
        '3: [0].requires[0].only[1]: “.git/config” needs a path in the repository, such as docs/spec.md, without “.”, “..”, “.git” and the like',
        '3: [0].requires[1].file: “*.md” names one file, without “*”',
        '3: [0].requires[2].only: a list names no path',
      ],
    ],
    [
      'documents that another stage makes, too few of them, and one for each task',
      list(
        stage('PLAN', '', TASKS),
        stage('A', '', 'makes: { documents: [Plan.md, b.md] }'),
        stage('B', 'each: { of: PLAN }', 'makes: { documents: [c.md] }'),
      ),
      [
        '4: [1].makes.documents[0]: “Plan.md” is the document of playbook.stages[0].makes.document already, which is written “plan.md”',
        '5: [2].makes.documents: a list names fewer than two documents; write `document: PATH`',
        '5: [2].each: all its tasks would write the same document; make `code`',
      ],
    ],
    [
      'other paths for a document',
      stage('A', 'requires: [{ only: [src] }]', 'makes: { document: a.md }'),
      ['3: [0].requires[0].only: a stage that makes documents changes these alone'],
    ],
    ['nobody', stage('A').replace('[builder]', '[]'), ['3: [0].by: a list names no role']],
    [
      'a role that is none',
      stage('A').replace('[builder]', '[Builder]'),
      [
        '3: [0].by[0]: “Builder” needs lower-case letters, digits and dashes, starting with a letter, at most 32 characters',
      ],
    ],
    [
      'an id that is none',
      stage('1A'),
      [
        '3: [0].id: “1A” needs letters, digits, “_” and “-”, starting with a letter, at most 32 characters, such as SPEC_REVIEW',
      ],
    ],
    [
      'a title over two lines',
      stage('A', 'title: "a\\nb"'),
      ['3: [0].title: “a b” needs one line of words, without spaces around it'],
    ],
    [
      'a title that changes the terminal',
      stage('A', 'title: "a\\u202eb"'),
      [
        '3: [0].title: “a\u202eb” holds invisible characters; it is shown to people, so everything in it must be visible',
      ],
    ],
    [
      'a brief that hides words',
      stage('A').replace('Do it.', 'Do \\u200bit.'),
      [
        '3: [0].brief: “Do \u200bit. {objective}” holds invisible characters; it is shown to people, so everything in it must be visible',
      ],
    ],
    [
      'what it makes, misspelt',
      stage('A', '', 'makes: coed'),
      ['3: [0].makes: “coed” is neither `code` nor a mapping that says what the stage makes; did you mean “code”?'],
    ],
    [
      'what it makes, misspelt in a mapping',
      stage('A', '', 'makes: { documnt: a.md }'),
      [
        '3: [0].makes: a mapping makes nothing; it takes one of `document`, `documents`, `code`, `answer`, `checks`, `removes`, `commit`, `approval`',
        '3:69: unknown key “documnt” in playbook.stages[0].makes; did you mean “document”?',
      ],
    ],
    [
      'nothing that it makes',
      stage('A', '', 'makes: {}'),
      [
        '3: [0].makes: a mapping makes nothing; it takes one of `document`, `documents`, `code`, `answer`, `checks`, `removes`, `commit`, `approval`',
      ],
    ],
    [
      'two things that it makes',
      stage('A', '', 'makes: { document: a.md, code: true }'),
      ['3: [0].makes: a mapping makes document and code; write a stage for each'],
    ],
    [
      'headings of nothing',
      stage('A', '', 'makes: { code: true, headings: [A] }'),
      ['3: [0].makes: a mapping has `headings`, and no `document` to have them'],
    ],
    [
      'a document with a verdict',
      stage('A', '', 'makes: { document: a.md, answer: verdict }'),
      [
        '3: [0].makes: a mapping has a `document`, which only `answer: tasks` may go with',
        '3: [0].makes: a verdict judges the work so far: say with `judges` what follows a rejection',
      ],
    ],
    [
      'an answer of no kind',
      stage('A', '', 'makes: { answer: task }'),
      [
        '3: [0].makes.answer: “task” is neither `tasks` nor `verdict` nor a mapping that is a JSON Schema; did you mean “tasks”?',
      ],
    ],
    [
      'checks of no kind',
      stage('A', '', 'makes: { checks: criterion }'),
      ['3: [0].makes.checks: “criterion” is neither `criteria` nor a list of commands; did you mean “criteria”?'],
    ],
    ['no checks', stage('A', '', 'makes: { checks: [] }'), ['3: [0].makes.checks: a list names no command']],
    [
      'a check that hides something',
      stage('A', '', 'makes: { checks: ["a\\u202eb"] }'),
      [
        '3: [0].makes.checks[0]: “a\u202eb” the command holds invisible characters; it is shown before it runs, so everything in it must be visible',
      ],
    ],
    [
      'a document outside',
      stage('A', '', 'makes: { document: ../a.md }'),
      [
        '3: [0].makes.document: “../a.md” needs a path in the documents’ folder, such as spec.md, without “.”, “..”, “.git”, “*” and the like',
      ],
    ],
    [
      'a document by its whole path',
      stage('A', '', 'makes: { document: /etc/a.md }'),
      [
        '3: [0].makes.document: “/etc/a.md” needs a path in the documents’ folder, such as spec.md, without “.”, “..”, “.git”, “*” and the like',
      ],
    ],
    [
      'a document in .git',
      stage('A', '', 'makes: { document: a/.GIT/config }'),
      [
        '3: [0].makes.document: “a/.GIT/config” needs a path in the documents’ folder, such as spec.md, without “.”, “..”, “.git”, “*” and the like',
      ],
    ],
    [
      'a heading with its marks',
      stage('A', '', 'makes: { document: a.md, headings: ["## A", "**", "a\\nb", ""] }'),
      [
        '3: [0].makes.headings[0]: “## A” needs the words of the heading alone, without “#”',
        '3: [0].makes.headings[1]: “**” is no heading: it has neither letter nor digit',
        '3: [0].makes.headings[2]: “a b” needs one line of words, without spaces around it',
        '3: [0].makes.headings[3]: “” needs one line of words, without spaces around it',
      ],
    ],
    [
      'one id twice',
      list(stage('A'), stage('A')),
      ['4: [1].id: “A” is playbook.stages[0].id already; each stage and each review needs its own'],
    ],
    [
      'two ids of one task',
      list(stage('A_B'), stage('a-b')),
      ['4: [1].id: “a-b” and “A_B” (playbook.stages[0].id) both become “a-b”; give it another id'],
    ],
    [
      'a review with the id of a stage',
      list(stage('A', 'review: { id: B, by: [reviewer] }'), stage('B')),
      ['4: [1].id: “B” is playbook.stages[0].review.id already; each stage and each review needs its own'],
    ],
    [
      'a review that only its author could make',
      stage('A', 'review: { id: B, by: [builder] }'),
      [
        '3: [0].review.by: no role reviews its own work, and “builder” does this stage; name another role that an agent has',
      ],
    ],
    [
      'a role in two reviews of one stage, and no review',
      list(stage('A', 'review: [{ id: R, by: [reviewer] }, { id: S, by: [pm, reviewer] }]'), stage('B', 'review: []')),
      [
        '3: [0].review[1].by[1]: “reviewer” reviews this work already in “R”; a role reviews once',
        '4: [1].review: a list names no review',
      ],
    ],
    [
      'a review in a session that is none of its role’s, of no task, and of no stage',
      list(
        stage('C', '', 'makes: { checks: criteria }'),
        stage('A'),
        stage(
          'B',
          'review: [{ id: R, by: [reviewer], session: { of: A } }, { id: S, by: [pm], session: { of: C } }, { id: T, by: [qa], session: { of: D } }]',
        ),
      ),
      [
        '5: [2].review[0].session.of: “builder” does “A” and is no role of this review; add it to `by`, or leave out `session`',
        '5: [2].review[1].session.of: “C” runs commands, so there is no session of it',
        '5: [2].review[2].session.of: no stage is called “D”; there are “C”, “A”, “B”',
      ],
    ],
    [
      'categories that lead nowhere',
      list(
        stage('GUIDE', '', `makes: { answer: ${JSON.stringify(COUNT)} }`),
        stage('SPEC', '', 'makes: { document: spec.md }'),
        stage('OTHER', 'needs: [GUIDE]', `makes: { answer: ${JSON.stringify(COUNT)} }`),
        stage(
          'BUILD',
          'needs: [SPEC], review: { id: R, by: [reviewer], reopens: { a: { stage: GUIDE }, b: { stage: SPEC }, c: { stage: LATER }, d: { stage: GUIDES }, e: auther } }',
        ),
        stage('LATER', '', `makes: { answer: ${JSON.stringify(COUNT)} }`),
        stage('NONE', 'review: { id: S, by: [reviewer], reopens: {} }'),
        stage('BIG', 'review: { id: T, by: [reviewer], reopens: { Big: block } }'),
      ),
      [
        '6: [3].review.reopens.a.stage: “SPEC” comes between and gives no answer by a schema, so this work would not see that it is done again',
        '6: [3].review.reopens.a.stage: “OTHER” builds on “GUIDE” and would not be done again: let this stage need “OTHER”, or “OTHER” need this stage',
        '6: [3].review.reopens.b.stage: “SPEC” gives no answer by a schema, so this work would not see that it is done again',
        '6: [3].review.reopens.c.stage: “LATER” does not come before this stage: it is none of the stages that it needs',
        '6: [3].review.reopens.d.stage: no stage is called “GUIDES”; did you mean “GUIDE”?',
        '6: [3].review.reopens.e: “auther” is neither `author` nor `block` nor `{ stage: STAGE }`; did you mean “author”?',
        '8: [5].review.reopens: a mapping names no category',
        '9: [6].review.reopens: a mapping has a category that is no word of lower-case letters, digits and dashes',
      ],
    ],
    [
      'a stage that follows entries and waits for something else, and fields of no entry',
      list(
        stage('PLAN', '', TASKS),
        stage('ASIDE', 'needs: []'),
        stage('GUIDE', 'each: { of: PLAN }, needs: [PLAN]', `makes: { answer: ${JSON.stringify(COUNT)} }`),
        stage('BUILD', 'each: { of: GUIDE }, needs: [GUIDE, ASIDE]'),
        stage('LAST').replace('Do it.', '{item:id} {item:titel}'),
      ),
      [
        '6: [3].needs: an entry continues from “GUIDE” at once, so this stage cannot wait for “ASIDE”',
        '7: [4].brief: “{item:id}” is of an entry of `each`, which this stage does not have',
        '7: [4].brief: “{item:titel}” is no placeholder; did you mean “{item:title}”, or write “{{” for a brace?',
      ],
    ],
    [
      'advice of nobody, never, without a limit, and where nobody works',
      list(
        stage('A', 'asks: { of: [], most: 1 }'),
        stage('B', 'asks: { of: [reviewer], most: 0 }'),
        stage('C', 'asks: { of: [reviewer] }'),
        stage('D', 'asks: { of: [reviewer], most: 1 }', 'makes: { checks: criteria }'),
      ),
      [
        '3: [0].asks.of: a list names no role',
        '4: [1].asks.most must be more than 0',
        '5: [2].asks.most is missing',
        '6: [3].asks: the engine runs the commands of this stage, so no agent works on it',
      ],
    ],
    [
      'approval that nothing follows, by an agent, of what is built already, and in a session',
      list(
        stage('PLAN', '', 'makes: { answer: tasks }'),
        stage('A', '', 'makes: { approval: true }'),
        stage('B', 'judges: { rounds: 1, else: { redo: PLAN } }', 'makes: { approval: true }').replace(
          'by: [builder], ',
          '',
        ),
        stage('C', 'each: { of: PLAN }').replace('{objective}', '{item}'),
        stage('D', 'judges: { rounds: 1, else: { redo: PLAN } }', 'makes: { approval: true }').replace(
          'by: [builder], ',
          '',
        ),
        stage('E', 'session: { of: D }'),
      ),
      [
        '4: [1].by: a person judges here, so no agent works on this stage',
        '4: [1].makes: a person judges the work so far: say with `judges` what follows a rejection',
        '7: [4].judges.else.redo: “PLAN” would plan again, and its tasks are made once; name a later stage, or a `fix`',
        '8: [5].session.of: “D” is judged by a person, so there is no session of it',
      ],
    ],
    [
      'an unknown stage',
      list(stage('SPEC'), stage('B', 'needs: [SPCE]')),
      ['4: [1].needs[0]: no stage is called “SPCE”; did you mean “SPEC”?'],
    ],
    [
      'a stage in another case',
      list(stage('SPEC'), stage('B', 'needs: [Spec]')),
      ['4: [1].needs[0]: no stage is called “Spec”; did you mean “SPEC”?'],
    ],
    [
      'a review in place of its stage',
      list(stage('A', 'review: { id: R, by: [reviewer] }'), stage('B', 'needs: [R]')),
      ['4: [1].needs[0]: “R” is the review of “A”; name that stage, which has passed when its review has'],
    ],
    ['a stage that needs itself', stage('A', 'needs: [A]'), ['3: [0].needs: “A” needs itself']],
    [
      'a circle',
      list(stage('A', 'needs: [C]'), stage('B'), stage('C')),
      ['3: [0].needs: a circle: “A” needs “C”, which needs “B”, which needs “A”'],
    ],
    [
      'two circles',
      list(stage('A', 'needs: [B]'), stage('B'), stage('C', 'needs: [D]'), stage('D', 'needs: [C]')),
      [
        '3: [0].needs: a circle: “A” needs “B”, which needs “A”',
        '5: [2].needs: a circle: “C” needs “D”, which needs “C”',
      ],
    ],
    [
      'tasks of a stage that makes none',
      list(stage('A'), stage('B', 'each: { of: A }')),
      ['4: [1].each.of: “A” does not answer with tasks: give it `answer: tasks`'],
    ],
    [
      'tasks of a stage that comes later',
      list(stage('A', 'each: { of: B }'), stage('B', '', TASKS)),
      ['3: [0].each.of: “B” does not come before this stage: it is none of the stages that it needs'],
    ],
    [
      'tasks of a stage beside it',
      list(stage('A', '', TASKS), stage('B', 'needs: [], each: { of: A }')),
      ['4: [1].each.of: “A” does not come before this stage: it is none of the stages that it needs'],
    ],
    [
      'an answer of a stage that makes code',
      list(stage('A'), stage('B').replace('{objective}', '{of:A}')),
      ['4: [1].brief: “A” makes no document and no answer'],
    ],
    [
      'an answer of no stage',
      stage('B').replace('{objective}', '{of:A} {of:}'),
      ['3: [0].brief: no stage is called “A”; there is “B”', '3: [0].brief: no stage is called “”; there is “B”'],
    ],
    [
      'an unknown placeholder',
      stage('B').replace('{objective}', '{objectiv} {Objective} {x} { and {{'),
      [
        '3: [0].brief: “{objectiv}” is no placeholder; did you mean “{objective}”, or write “{{” for a brace?',
        '3: [0].brief: “{Objective}” is no placeholder; did you mean “{objective}”, or write “{{” for a brace?',
        '3: [0].brief: “{x}” is no placeholder; there are {objective}, {criteria}, {constraints}, {context}, {documents}, {item}, {item:FIELD}, {of:STAGE}, or write “{{” for a brace',
        '3: [0].brief: a “{” begins no placeholder; write “{{” for a brace',
      ],
    ],
    [
      'an entry of nothing',
      stage('B').replace('{objective}', '{item}'),
      ['3: [0].brief: “{item}” is an entry of `each`, which this stage does not have'],
    ],
    [
      'a session of commands',
      list(stage('A', '', 'makes: { checks: criteria }'), stage('B', 'session: { of: A }')),
      ['4: [1].session.of: “A” runs commands, so there is no session of it'],
    ],
    [
      'a session of no kind',
      stage('A', 'session: newest'),
      ['3: [0].session: “newest” is neither `new` nor `role` nor `{ of: STAGE }`'],
    ],
    [
      'a session of many',
      list(stage('A', '', TASKS), stage('B', 'each: { of: A }'), stage('C', 'session: { of: B }')),
      ['5: [2].session.of: “B” has a session for each of its tasks, and none of its own'],
    ],
    [
      'a verdict that nothing follows',
      stage('A', '', VERDICT),
      ['3: [0].makes: a verdict judges the work so far: say with `judges` what follows a rejection'],
    ],
    [
      'what follows without a verdict',
      stage('A', 'judges: { rounds: 4, else: { redo: A } }'),
      [
        '3: [0].by: no role judges its own work, and “builder” does “A”; name another role that an agent has',
        '3: [0].judges: a stage that judges makes `answer: verdict`, or `approval: true`',
        '3: [0].judges.else.redo: “A” does not come before this stage: it is none of the stages that it needs',
      ],
    ],
    [
      'what follows twice',
      list(stage('A'), stage('B', 'judges: { rounds: 4, else: { redo: A, fix: A } }', VERDICT)),
      ['4: [1].judges.else: a mapping takes either `redo` or `fix`, with the id of a stage'],
    ],
    [
      'nothing that follows',
      list(stage('A'), stage('B', 'judges: { rounds: 4, else: {} }', VERDICT)),
      ['4: [1].judges.else: a mapping takes either `redo` or `fix`, with the id of a stage'],
    ],
    [
      'a fix by commands',
      list(
        stage('A', '', 'makes: { checks: criteria }'),
        stage('B', 'judges: { rounds: 4, else: { fix: A } }', VERDICT),
      ),
      ['4: [1].judges.else.fix: “A” makes no document and no code, so a fix like it changes nothing'],
    ],
    [
      'no round',
      list(stage('A'), stage('B', 'judges: { rounds: 0, else: { redo: A } }', VERDICT)),
      ['4: [1].judges.rounds must be more than 0'],
    ],
    [
      'a judge for each',
      list(
        stage('A', '', TASKS),
        stage('C'),
        stage('B', 'each: { of: A }, review: { id: R, by: [pm] }, judges: { rounds: 4, else: { redo: C } }', VERDICT),
      ),
      [
        '5: [2].review: a stage that judges is not reviewed',
        '5: [2].judges.else.redo: “C” has no task for each entry, so a rejection of one entry cannot open it again',
      ],
    ],
    [
      'a fix of one entry',
      list(
        stage('A', '', TASKS),
        stage('C', 'each: { of: A }'),
        stage('B', 'each: { of: C }, judges: { rounds: 4, else: { fix: C } }', VERDICT),
      ),
      ['5: [2].judges.else.fix: a stage that judges each entry has its work done again: write `redo`'],
    ],
    [
      'a commit of nothing, of several, of each, or twice',
      list(
        stage('A', '', COMMIT),
        stage('B', 'needs: []', TASKS),
        stage('C', '', COMMIT),
        stage('D', 'each: { of: B }'),
        stage('E', '', COMMIT),
        stage('F', 'each: { of: D }, needs: [D]', COMMIT),
        stage('G', 'needs: [B, D]', COMMIT),
        stage('H', 'each: { of: D }, needs: [D]', COMMIT),
        stage('I', 'needs: [D]'),
      ),
      [
        '3: [0].makes.commit: commits the work of one stage: let this stage need that one alone',
        '5: [2].makes.commit: “B” makes no code, so there is nothing to commit',
        '7: [4].makes.commit: “D” has a task for each entry: add `each: { of: D }`',
        '8: [5].makes.commit: “I” builds on “D”, whose work this stage delivers: let “I” need “F”',
        '9: [6].makes.commit: commits the work of one stage: let this stage need that one alone',
        '10: [7].makes.commit: “D” is committed by “F” already',
      ],
    ],
    [
      'a review of an answer',
      stage('A', 'review: { id: R, by: [pm] }', `makes: { answer: ${JSON.stringify(COUNT)} }`),
      ['3: [0].review: only a document or code is reviewed'],
    ],
    [
      'a plan that is made again',
      list(
        stage('P', '', TASKS),
        stage('B', 'each: { of: P }'),
        stage('J', 'judges: { rounds: 1, else: { redo: P } }', VERDICT),
      ),
      ['5: [2].judges.else.redo: “P” would plan again, and its tasks are made once; name a later stage, or a `fix`'],
    ],
    [
      'a plan that is made again after a fix',
      list(
        stage('S', '', 'makes: { document: s.md }'),
        stage('P', '', TASKS),
        stage('B', 'each: { of: P }'),
        stage('J', 'judges: { rounds: 1, else: { fix: S } }', VERDICT),
      ),
      ['6: [3].judges.else.fix: “P” would plan again, and its tasks are made once; name a later stage'],
    ],
    [
      'a fix of a plan',
      list(
        stage('P', '', TASKS),
        stage('B', 'each: { of: P }'),
        stage('J', 'judges: { rounds: 1, else: { fix: P } }', VERDICT),
      ),
      [
        '5: [2].judges.else.fix: “P” plans tasks, and a fix like it plans none; name a stage that makes a document or code',
      ],
    ],
    [
      'two plans of tasks',
      list(
        stage('P', '', TASKS),
        stage('B', 'each: { of: P }'),
        stage('Q', '', 'makes: { answer: tasks }'),
        stage('C', 'each: { of: Q }'),
        stage('D', 'each: { of: P }'),
      ),
      [
        '6: [3].each.of: “Q” would be a second plan beside “P” (playbook.stages[1].each.of), and a list has one; name “P” here as well',
      ],
    ],
    [
      'one document twice',
      list(stage('A', '', 'makes: { document: a.md }'), stage('B', '', 'makes: { document: a.md }')),
      ['4: [1].makes.document: “a.md” is the document of playbook.stages[0].makes.document already'],
    ],
    [
      'one document by another spelling',
      list(stage('A', '', 'makes: { document: docs/a.md }'), stage('B', '', 'makes: { document: Docs//./A.md }')),
      [
        '4: [1].makes.document: “Docs//./A.md” needs a path in the documents’ folder, such as spec.md, without “.”, “..”, “.git”, “*” and the like',
        '4: [1].makes.document: “Docs//./A.md” is the document of playbook.stages[0].makes.document already, which is written “docs/a.md”',
      ],
    ],
    [
      'a document in a document',
      list(stage('A', '', 'makes: { document: a }'), stage('B', '', 'makes: { document: a/b.md }')),
      [
        '4: [1].makes.document: “a/b.md” cannot be there beside “a” (playbook.stages[0].makes.document): one is the folder of the other',
      ],
    ],
    [
      'a document for each',
      list(stage('A', '', TASKS), stage('B', 'each: { of: A }', 'makes: { document: b.md }')),
      ['4: [1].each: all its tasks would write the same document; make `code`'],
    ],
    [
      'reviewed commands',
      stage('A', 'review: { id: R, by: [pm] }, session: role', 'makes: { checks: criteria }'),
      [
        '3: [0].review: the engine runs the commands of this stage, so no agent works on it',
        '3: [0].session: the engine runs the commands of this stage, so no agent works on it',
      ],
    ],
    [
      'a schema of no mapping',
      stage('A', '', 'makes: { answer: { type: string } }'),
      ['3: [0].makes.answer: an answer is a mapping: write `type: object`'],
    ],
    [
      'a schema with open fields',
      stage(
        'A',
        '',
        'makes: { answer: { type: object, properties: { a: { type: strin }, b: { type: array } }, required: [a, c] } }',
      ),
      [
        '3: [0].makes.answer: every field is required, null where it is unknown: add “b” to `required`',
        '3: [0].makes.answer: needs `additionalProperties: false`',
        '3: [0].makes.answer.properties.a.type: needs one of object, array, string, number, integer, boolean, null, or a list of them',
        '3: [0].makes.answer.properties.b.items: needs a mapping that is a JSON Schema',
        '3: [0].makes.answer.required[1]: “c” is not in `properties`',
      ],
    ],
    [
      'a schema with what no runtime takes',
      stage(
        'A',
        '',
        'makes: { answer: { type: object, properties: { a: { type: string, pattern: "(a+)+$" } }, required: [a], additionalProperties: false, $ref: "#" } }',
      ),
      [
        '3: [0].makes.answer.properties.a.pattern: “pattern” is not supported: use type, title, description, enum, const, anyOf, properties, required, additionalProperties, items, minItems, maxItems, minimum, maximum, minLength, maxLength',
        '3: [0].makes.answer.$ref: “$ref” is not supported: use type, title, description, enum, const, anyOf, properties, required, additionalProperties, items, minItems, maxItems, minimum, maximum, minLength, maxLength',
      ],
    ],
    [
      'a document that is a pattern',
      stage('A', '', 'makes: { document: "*.md" }'),
      [
        '3: [0].makes.document: “*.md” needs a path in the documents’ folder, such as spec.md, without “.”, “..”, “.git”, “*” and the like',
      ],
    ],
    [
      'a judge of what it built on the way from the stage that is redone',
      list(
        stage('A').replace('[builder]', '[pm]'),
        stage('B'),
        stage('J', 'judges: { rounds: 1, else: { redo: A } }', VERDICT).replace('[reviewer]', '[builder]'),
      ),
      ['5: [2].by: no role judges its own work, and “builder” does “B”; name another role that an agent has'],
    ],
    [
      'work beside a judge on what is redone',
      list(
        stage('A'),
        stage('B', 'needs: [A]'),
        stage('J', 'needs: [A], judges: { rounds: 1, else: { redo: A } }', VERDICT),
      ),
      [
        '5: [2].judges.else.redo: “B” builds on “A” and would not be done again: let this stage need “B”, or “B” need this stage',
      ],
    ],
    [
      'work after a judge',
      list(stage('A'), stage('J', 'judges: { rounds: 1, else: { redo: A } }', VERDICT), stage('B')),
      [],
    ],
    [
      'a judge of its own work',
      list(
        stage('A'),
        stage('J', 'judges: { rounds: 1, else: { redo: A } }', VERDICT).replace('[reviewer]', '[builder]'),
      ),
      ['4: [1].by: no role judges its own work, and “builder” does “A”; name another role that an agent has'],
    ],
  ])('%s', (_what, stages, expected) => {
    expect(messages(stages)).toEqual(expected);
  });
});

describe('the roles of a list', () => {
  it.each<[what: string, stages: string, expected: string[]]>([
    ['of which one is enough', stage('A').replace('[builder]', '[writer, builder]'), []],
    [
      'that nobody has',
      stage('A').replace('[builder]', '[writer, ba]'),
      [
        '3: [0].by: no agent has the role “writer” or “ba”; add one to `agents`, such as `- { name: writer, role: writer, runtime: … }`, or name one of builder, reviewer',
      ],
    ],
    [
      'misspelt beside one that somebody has',
      stage('A').replace('[builder]', '[bilder, reviewer]'),
      ['3: [0].by[0]: no agent has the role “bilder”; did you mean “builder”?'],
    ],
    [
      'of a review that nobody has',
      stage('A', 'review: { id: R, by: [pm] }'),
      [
        '3: [0].review.by: no agent has the role “pm”; add one to `agents`, such as `- { name: pm, role: pm, runtime: … }`, or name one of builder, reviewer',
      ],
    ],
    [
      'of a review that only the author has',
      stage('A', 'review: { id: R, by: [builder, pm] }'),
      [
        '3: [0].review.by: no role reviews its own work, and “builder” does this stage; name another role that an agent has',
      ],
    ],
  ])('%s', (_what, stages, expected) => {
    expect(messages(stages, AGENTS)).toEqual(expected);
  });

  it('are not checked by agents that have none', () => {
    expect(messages(stage('A').replace('[builder]', '[writer]'), 'agents:\n  - { name: b, runtime: claude }')).toEqual([
      '5:5: agents[0].role is missing',
    ]);
  });
});

describe('a list of more than a hundred stages', () => {
  it('is refused without a look at each', () => {
    const stages = Array.from({ length: 5000 }, (_, index) => `    - { x: ${index} }`);
    expect(messages(list(...stages))).toEqual(['103:  has 5000 entries and may have at most 100']);
    const hundred = Array.from({ length: 100 }, (_, index) => stage(`S_${index}`));
    expect(messages(list(...hundred))).toEqual([]);
    expect(messages(list(...hundred, stage('MORE')))).toHaveLength(1);
  });
});

describe('T20: a stage with thousands of names', () => {
  const many = Array.from({ length: 25_000 }, (_, index) => `NAME_${index}`);
  it.each([
    ['needs', { needs: many }],
    ['a brief', { brief: many.map((name) => `{of:${name}}`).join('') }],
  ])('%s: only the first are compared with those that are there', (_what, more) => {
    const stages = [{ id: 'A', by: ['builder'], brief: 'Do it.', makes: 'code', ...more }];
    const found = checkList({ stages }, undefined);
    expect(found.length).toBeGreaterThan(50);
    expect(found.length).toBeLessThan(300);
  });
});

describe('docs/stages.md', () => {
  const page = readFileSync(new URL('../../../docs/stages.md', import.meta.url), 'utf8');

  it('has examples that can be used', () => {
    const examples = [...page.matchAll(/```yaml\n([^]*?)```/g)].map(([, text = '']) => text);
    expect(examples).toHaveLength(7);
    for (const text of examples) {
      const parsed = parseSettings(text, 'squad.yaml', KNOWN_NAMES);
      expect(parsed.ok ? [] : parsed.problems).toEqual([]);
    }
  });

  it('has an example of each key of a stage', () => {
    const row = /^\| `(\w+)` \| .* \| `(.+)` \|$/gm;
    const rows = [...page.matchAll(row)].map(([, key = '', example = '']) => [key, example] as const);
    const { stages } = stageListSchema.shape;
    expect(rows.map(([key]) => key)).toEqual(Object.keys(stages.element.shape));
    for (const [key, example] of rows) expect(Object.keys(parse(example) as object)).toContain(key);
  });
});
