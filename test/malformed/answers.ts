import { expect } from 'vitest';
import { fc } from '@fast-check/vitest';
import type { Json } from '../../src/text/json.ts';
import type { Playbook } from '../../src/model/plan.ts';
import type { Member } from '../../src/model/plan/board.ts';
import { planEntrySchema } from '../../src/model/plan/entry.ts';
import { createCouncilPlaybook } from '../../src/playbooks/council/index.ts';
import { createDeliveryPlaybook } from '../../src/playbooks/delivery/index.ts';
import { createObjectivePlaybook } from '../../src/playbooks/objective/index.ts';
import { defaultSettings } from '../../src/squad/settings/parse-settings.ts';
import { factsOf, foldPlan, member, simulate, type Played } from '../playbooks/simulator.ts';
import { mutated } from './mutate-json.ts';
import { reader, type Reader } from './reader.ts';
import { finding } from '../support/findings.ts';

const ISSUE = {
  doc_path: 'd.md',
  code_paths: ['src/a.ts#L1'],
  category: 'func',
  severity: 'high',
  summary: 'wrong',
  suggestion: 'mend',
};
const ASSIGNMENT = {
  task_id: 'T-1',
  to: 'B',
  task_type: 'implement',
  summary: 'Build it.',
  files: ['f'],
  success_criteria: ['it works'],
  dependencies: [],
  deadline_minutes: 30,
};
const piece = (id: string, needs: readonly string[] = []) => ({
  id,
  title: `Do ${id}`,
  role: 'builder',
  needs: [...needs],
  brief: `Build ${id}.`,
  acceptance: [`${id} works`],
});

/** A good answer of each form that a task or a review can ask for. */
const ANSWERS: Readonly<Record<string, Json>> = {
  plan: { summary: 'a diamond', tasks: [piece('a'), piece('b', ['a']), piece('c', ['a']), piece('d', ['b', 'c'])] },
  review: { approved: false, summary: 'not yet', findings: [finding('no test')] },
  'test-report': { passed: true, summary: 'tested', failures: [] },
  findings: { issues: [ISSUE], summary: 'one', questions: ['why?'] },
  improved: { changes_summary: 'it is said now' },
  assigned: { summary: 'one piece', assignments: [ASSIGNMENT] },
  closed: { summary: 'all is built', open_points: ['watch it'] },
  tasks: { tasks: ['a', 'b'].map((id) => ({ ...piece(id), paths: [`${id}.ts`] })) },
  'answer-complete': { summary: 'built', tryIt: ['npm test'], left: [], followUps: [] },
  verdict: {
    approved: false,
    summary: 'not yet',
    findings: [{ file: 'a.ts', line: 1, problem: 'no test', suggestion: 'a test' }],
    criteria: [
      { criterion: 'C1', met: true, evidence: { file: 'a.ts', line: 1, quote: 'const a' }, why: 'it is there' },
    ],
  },
};

interface Stage {
  readonly playbook: Playbook<unknown>;
  readonly team: readonly Member[];
  /** What its agents are asked for. */
  readonly forms: readonly string[];
}

const members = (...roles: readonly string[]): Member[] => roles.map((role, index) => member(`m-${index}`, role));

export const STAGES: readonly Stage[] = [
  {
    playbook: createDeliveryPlaybook(),
    team: [
      ...members('planner', 'builder', 'builder', 'reviewer', 'tester', 'committer'),
      member('x', 'builder', { commits: false }),
    ],
    forms: ['plan', 'plan', 'review', 'test-report'],
  },
  {
    playbook: createCouncilPlaybook(),
    team: [member('MAIN', 'main'), ...['A', 'B'].map((name) => member(name, 'member'))],
    forms: ['findings', 'improved', 'assigned', 'closed', 'findings', 'assigned'],
  },
  {
    playbook: createObjectivePlaybook(),
    team: members('pm', 'ba', 'builder', 'reviewer'),
    forms: ['tasks', 'verdict', 'review', 'answer-complete'],
  },
];

/** Agents that answer something else than they were asked, in whole runs of the pure decisions. */
export const ANSWER_READERS: readonly Reader[] = STAGES.map((stage) =>
  reader(
    `answers of agents, ${stage.playbook.name}`,
    fc.constantFrom(...stage.forms).chain((form) => fc.tuple(fc.constant(form), mutated(ANSWERS[form] ?? null))),
    ([form, answer]) => holdsPlayed(stage, play(stage, form, answer)),
  ),
);

/** The answers of one form are malformed, and each answer of another is good. */
export function play({ playbook, team }: Stage, malformed: string, answer: Json): Played {
  const source = {
    run: 'try',
    section: undefined,
    limits: defaultSettings().limits,
    publish: undefined,
    roles: team.map(({ role }) => role),
    objective: { criteria: [] },
  };
  const facts = factsOf(team, { options: playbook.options?.(source) ?? {} });
  const parsed = playbook.parse(facts);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  const rejected = new Set<string>();
  return simulate({
    facts,
    playbook,
    plan: playbook.plan(parsed.input),
    script: {
      answer: ({ options }) => options.at(-1),
      evidence: (task) => (task.startsWith('improve-') ? { changedPaths: ['docs/d.md'] } : undefined),
      turn: ({ task, review }, board) => {
        const form = review === null ? board.tasks.get(task)?.task.output?.schema : 'review';
        if (form === undefined) return undefined;
        // A reviewer that never has enough is not what is looked for here.
        const isEnough = form === 'review' && rejected.has(task);
        rejected.add(task);
        if (task.startsWith('verify-')) return { output: { issues: [], summary: '', questions: [] } };
        if (form === malformed && !isEnough) return { output: answer };
        return isEnough ? undefined : { output: ANSWERS[form] ?? null };
      },
    },
  });
}

/** It ends, and what the ledger would keep of it can be read again and tells the same. */
function holdsPlayed({ team }: Stage, { board, end, entries }: Played): void {
  expect(['finish', 'stop', 'ask']).toContain(end.next);
  const stored = entries.map((entry) => planEntrySchema.parse(JSON.parse(JSON.stringify(entry))));
  const again = foldPlan(factsOf(team), stored);
  expect([...again.tasks.keys()]).toEqual([...board.tasks.keys()]);
  expect(again.finished).toEqual(board.finished);
}
