import type { Json } from '../../src/text/json.ts';
import {
  backlog,
  block,
  built,
  guidance,
  MILESTONE,
  planned,
  REPORT,
  RESEARCH,
  SPRINT_ID,
  todo,
  todos,
  write,
} from '../support/sprint-script.ts';
import { ALL_FIXED, finding } from '../support/findings.ts';
import type { Entry, Step } from './run-script.ts';

/** What a prompt says of its own sprint, its documents, and its todo. */
const SPRINT = '{match:[0-9]+-Sprint-[0-9:]+(?:-[0-9]+)?}';
const FOLDER = 'docs/squad/{match:docs/squad/([a-z0-9-]+)}';
const TODO = '{match:request_id: ([a-z0-9-]+)}';

const ROLES = ['research', 'planner', 'designer', 'architect', 'developer', 'qa', 'version-controller'] as const;

/** Agents of a whole team on the scripted runtime. */
export function scriptedTeam(developers = 1): readonly object[] {
  const more = Array.from({ length: developers - 1 }, (_, index) => ({
    name: `developer-${index + 2}`,
    role: 'developer',
  }));
  return [...ROLES.map((role) => ({ name: role, role })), ...more].map((one) => ({
    ...{ ...one, runtime: 'scripted' },
    access: ['planner', 'developer', 'version-controller'].includes(one.role) ? 'edit' : 'read-only',
  }));
}

const COMMIT: Step = { run: ['sh', '-c', 'git add -A && git commit -qm "docs: plan the sprint"'] };

function says(when: string, structured: Json, steps: readonly Step[] = []): Entry {
  return {
    ...{ when, steps: [...steps, { answer: 'ok' }] },
    structured: forSprint(structured),
  };
}

/** An answer that names the sprint whose prompt it has. */
export function forSprint(structured: Json): Json {
  return JSON.parse(JSON.stringify(structured).replaceAll(SPRINT_ID, SPRINT)) as Json;
}

/** A verdict of the architect or of QA. */
function judged(when: string, category: string | null, turn?: number, first: readonly Step[] = []): Entry {
  const isGood = category === null;
  return {
    ...{
      when,
      ...(turn === undefined ? {} : { turn }),
      steps: [...first, { run: ['git', 'log', '-1', '--format=%s'] }, { answer: 'ok' }],
    },
    structured: {
      ...{ approved: isGood, summary: isGood ? 'good' : 'not yet', settled: ALL_FIXED, category, required_inputs: [] },
      findings: isGood ? [] : [finding('it lacks a line')],
      recommended_next_step: null,
    },
  };
}

export interface ScriptedTodo {
  readonly item: string;
  /** The category of the first verdict of QA; absent: it approves. */
  readonly reopened?: string;
  /** Before that verdict. */
  readonly qaFirst?: readonly Step[];
  /** What its planner waits for. */
  readonly lacks?: string;
  /** Before its planner answers. */
  readonly plans?: readonly Step[];
  /** Before the developer commits. */
  readonly first?: readonly Step[];
}

/**
 * The answers of everybody in a sprint with these todos. Each writes a file called as its item, and a line more when it is reopened.
 * `adds`: items that its planner adds first.
 */
export function sprintScript(chosen: readonly ScriptedTodo[], adds: readonly string[] = []): Entry[] {
  const builds = chosen.map(({ item, first = [] }) => {
    const line = `echo line >>${item}.txt && git add -A && git commit -qm "feat: make ${item}"`;
    return says(`# Task ${item}-build:`, built(item), [...first, { run: ['sh', '-c', line] }]);
  });
  const again = says('was rejected in review', built('{match:task (b-[a-z]+)-build}'), [
    {
      run: ['sh', '-c', 'f={match:task (b-[a-z]+)-build}.txt; echo more >>$f && git commit -qam "fix: one line more"'],
    },
  ]);
  return [
    ...chosen.flatMap(({ item, reopened, qaFirst }) =>
      reopened === undefined ? [] : [judged(`# Review of task ${item}-build:`, reopened, 1, qaFirst)],
    ),
    judged('# Review of task', null),
    judged('was changed', null),
    again,
    says('# Task research:', RESEARCH),
    says('# Task milestone:', MILESTONE, [
      { write: { path: `${FOLDER}/milestone.md`, text: '# Milestone\n\nGood things.\n' } },
      COMMIT,
    ]),
    {
      when: '# Task artifact-sync:',
      steps: [
        ...['plan', 'spec'].map((name) => ({
          write: { path: `${FOLDER}/${name}.md`, text: `# ${name}\n\nIt works.\n` },
        })),
        ...[COMMIT, { answer: 'ok' }],
      ],
    },
    says('# Task backlog:', backlog(...adds.map((item) => write(item)))),
    says('# Task priorities:', backlog()),
    says('# Task todos:', todos(...chosen.map(({ item }) => todo(item)))),
    says('-guide:', guidance(TODO)),
    ...builds,
    says('# Task report:', REPORT),
    ...chosen.flatMap(({ item, lacks }) =>
      lacks === undefined ? [] : [says(`# Task ${item}:`, planned(item, block(lacks)))],
    ),
    ...chosen.flatMap(({ item, plans }) =>
      plans === undefined ? [] : [says(`# Task ${item}:`, planned(item), plans)],
    ),
    says('# Task b-', planned(TODO)),
  ];
}
