import { describe, expect, it } from 'vitest';
import { READING_TOOLS } from '../../src/cli/mcp/reading-tools.ts';
import { SENDING_TOOLS } from '../../src/cli/mcp/sending-tools.ts';
import { createCouncilPlaybook } from '../../src/playbooks/council/index.ts';
import { teamSchema } from '../../src/playbooks/coordinate/answer.ts';
import { ANSWER } from '../../src/playbooks/session/answer.ts';
import { createBestOfPlaybook } from '../../src/playbooks/delivery/best-of.ts';
import { createDeliveryPlaybook } from '../../src/playbooks/delivery/index.ts';
import { createReadingPlaybook } from '../../src/playbooks/read-messages/index.ts';
import { createReviewPlaybook } from '../../src/playbooks/sprint/review.ts';
import { createSprintPlaybook } from '../../src/playbooks/sprint/index.ts';
import { createObjectivePlaybook } from '../../src/playbooks/objective/index.ts';
import { judgementAnswerSchema } from '../../src/model/plan/gate.ts';
import { reviewForm } from '../../src/model/plan/review.ts';
import { answerSchema } from '../../src/playbooks/shared/tasks.ts';
import type { PromptName } from '../../src/prompts/render.ts';
import { MAIL_KINDS } from '../../src/model/mail/kind.ts';
import { PROMPTS } from '../../src/prompts/shipped.ts';
import { sprintOptions } from '../support/sprint-script.ts';
import { ownText } from '../../src/squad/preflight/roles.ts';

/** The names of all fields below a schema, and the words among which a field chooses. */
function fieldsOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(fieldsOf);
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, ...rest } = schema as { properties?: Record<string, unknown>; enum?: unknown[] };
  return [
    ...(rest.enum ?? []).map(String),
    ...Object.keys(properties),
    ...Object.values(properties).flatMap(fieldsOf),
    ...Object.values(rest).flatMap(fieldsOf),
  ];
}

const FINDING = { id: 'f-1', source: 'log', title: 'a', detail: 'b', firstSeen: 1 } as const;
const playbooks = [
  createBestOfPlaybook(),
  createDeliveryPlaybook(),
  createObjectivePlaybook(),
  createCouncilPlaybook(),
  createSprintPlaybook(sprintOptions()),
  createReviewPlaybook({ files: '', requests: [], findings: [FINDING], backlog: [] }),
  createReadingPlaybook({ messages: [], requests: [], runs: [], actions: [], sprint: null }),
];
const TOOLS = [...READING_TOOLS, ...SENDING_TOOLS];
const KNOWN = new Set([
  ...playbooks.flatMap(({ answers = {} }) => Object.values(answers).flatMap(({ schema }) => fieldsOf(schema))),
  ...fieldsOf(answerSchema(reviewForm(['design']))),
  ...fieldsOf(answerSchema(judgementAnswerSchema)),
  ...TOOLS.flatMap((tool) => [tool.name, ...fieldsOf(tool.schema())]),
  ...[ANSWER, answerSchema(teamSchema)].flatMap(fieldsOf),
  ...MAIL_KINDS.flatMap(({ action }) => action ?? []),
  'mail',
]);

describe('each name in a prompt', () => {
  it.each(Object.entries(PROMPTS))('is that of a field, a word of one, or a tool: %s', (_, { body }) => {
    const names = [...body.matchAll(/`([a-z][A-Za-z_]*)`/g)].map(([, name = '']) => name);
    expect(names.filter((name) => !KNOWN.has(name))).toEqual([]);
  });
});

/**
 * The parts of a good order, and the words by which the agents of each role have them: in their instructions, in the first prompt of a
 * task, or in the frame of both.
 */
const FRAME: Readonly<Record<string, readonly [PromptName, RegExp]>> = {
  goal: ['author/first', /\{\{run\}\}[^]*# Task \{\{id\}\}[^]*\{\{task\}\}/],
  'where to look': ['author/first', /\{\{files\}\}[^]*\{\{touches\}\}[^]*\{\{delivered\}\}/],
  limits: ['author/first', /\{\{#neighbours\}\}[^]*\{\{place\}\}[^]*\{\{minutes\}\} minutes/],
  done: ['author/first', /squad checks that:[^]*\{\{#duties\}\}/],
  'how to check': ['squad/run', /squad runs it before work is merged\. Authors run it first/],
  'how to report': ['squad/instructions', /say what is missing and why[^]*say in your answer what you assumed/],
  'when to stop': ['squad/instructions', /After two failed tries at the same error, stop/],
};

type Part = 'goal' | 'where to look' | 'limits' | 'done' | 'how to check' | 'how to report' | 'when to stop';

/** Each role that works: its own words for each part. Whatever is missing here, it has of the frame. */
const RUBRIC: Readonly<Record<string, Partial<Record<Part, readonly [PromptName, RegExp]>>>> = {
  builder: {
    goal: ['builder/first', /\{\{brief\}\}/],
    done: ['builder/first', /Done means:/],
    'where to look': ['builder/role', /Read the surrounding code first/],
    limits: ['builder/role', /what the task asks and nothing more/],
    'how to check': ['builder/role', /Run the repository's tests and checks/],
    'how to report': ['author/commits', /End with the short report/],
  },
  reviewer: {
    goal: ['reviewer/first', /# Review of task \{\{id\}\}[^]*\{\{task\}\}/],
    done: ['reviewer/first', /It must meet these criteria/],
    'where to look': ['reviewer/first', /The change is `\{\{change\}\}`/],
    limits: ['reviewer/first', /Change nothing\. Review only the task/],
    'how to check': ['reviewer/role', /`proof` the input or the command that fails/],
    'how to report': ['reviewer/role', /Show each block: `file` and `line`/],
    'when to stop': ['reviewer/role', /To find nothing is a good result/],
  },
  fixer: {
    goal: ['fixer/first', /these checks fail:\s+\{\{problems\}\}/],
    'where to look': ['fixer/first', /\{\{#merged\}\}[^]*\{\{#attempts\}\}/],
    limits: ['fixer/first', /Do not weaken the check/],
    'how to check': ['fixer/first', /Add a test that fails without your fix/],
    'how to report': ['author/commits', /End with the short report/],
  },
  judge: {
    goal: ['judge/first', /\{\{#criteria\}\}/],
    'where to look': ['judge/first', /the current folder shows it/],
    limits: ['author/builds', /nothing that you change there counts/],
    done: ['judge/first', /met only if you could show it to a stranger/],
    'how to check': ['judge/first', /build and run what you need/],
    'how to report': ['judge/first', /Answer with `verdicts`/],
  },
  planner: {
    goal: ['planner/first', /Split this objective into tasks/],
    'where to look': ['planner/role', /Look into the repository first/],
    limits: ['planner/role', /Only plan\. Change no file/],
    done: ['planner/role', /Write each task so that it stands alone/],
    'when to stop': ['planner/first', /say so in `cannot` and plan no task/],
  },
  tester: {
    done: ['tester/first', /Done means:/],
    limits: ['tester/role', /Fix nothing/],
    'how to check': ['tester/role', /Build it and run its tests/],
    'how to report': ['tester/role', /Report each failure with the command, what you expected and what happened/],
  },
  committer: {
    goal: ['committer/first', /Commit the reviewed work/],
    'where to look': ['committer/first', /staged in your folder/],
    limits: ['committer/role', /Change, add and leave out nothing/],
    'how to report': ['committer/role', /say what and why/],
  },
  // Gets the work that another member hands on.
  scribe: {
    goal: ['mail/hand-off', /Do the rest of it/],
    limits: ['mail/hand-off', /as far as your role allows/],
    'how to report': ['author/commits', /End with the short report/],
  },
  writer: {
    'where to look': ['writer/role', /Read the sources first/],
    limits: ['writer/role', /Write documents only/],
    done: ['stage/document', /Write \{\{paths\}\} in Markdown, and change no other file/],
    'how to check': ['writer/role', /Check every command, path and name/],
  },
  main: {
    goal: ['council/improve', /\{\{issues\}\}/],
    done: ['main/role', /The documentation is complete when it names/],
    limits: ['main/role', /documentation alone, never code/],
    'how to report': ['council/improve', /End with `changes_summary`/],
    'when to stop': ['main/role', /Continue until no question is open/],
  },
  member: {
    goal: ['council/execute', /\{\{assignment\}\}/],
    'where to look': ['council/execute', /\{\{document\}\} says how/],
    limits: ['member/role', /change nothing else/],
    'how to check': ['member/role', /add tests where it has tests/],
    'how to report': ['member/role', /silence is no answer/],
    'when to stop': ['council/execute', /end your turn/],
  },
};

describe.each(Object.entries(RUBRIC))('the orders of a %s', (_, own) => {
  it.each(Object.keys(FRAME) as Part[])('have the %s', (part) => {
    const [name, words] = own[part] ?? FRAME[part] ?? ['other/role', /^$/];
    expect(PROMPTS[name].body).toMatch(words);
  });
});

it('each role of squad says what it is for, and what it leaves alone', () => {
  const roles = playbooks.flatMap((playbook) => Object.entries(playbook.roles));
  const texts = roles.flatMap(([role, about]) => (ownText(about) === '' ? [] : [[role, ownText(about)] as const]));
  expect(texts.length).toBeGreaterThan(8);
  for (const [role, text] of texts) {
    expect([role, /Your role is /.test(text)]).toEqual([role, true]);
    expect([role, /\b(?:never|not|no|nothing|only)\b/i.test(text)]).toEqual([role, true]);
  }
});
