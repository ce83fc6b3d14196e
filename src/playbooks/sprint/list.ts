import type { OptionsSource } from '../../model/plan.ts';
import type { SprintOptions } from '../../model/sprint/options.ts';
import { type FactsOf, type PromptName, renderPrompt } from '../../prompts/render.ts';
import { backlogText, kickoffText, referencesText } from './backlog-text.ts';
import { DEFAULT_COMMIT_POLICY, readCommitPolicy } from '../../model/sprint/commit-policy.ts';
import { kickoffWords } from '../../model/sprint/sprint.ts';
import { routedSteps, type RoutedStep } from '../../model/sprint/routing.ts';
import type { Reopens, Stage, StageList, StageRequirement } from '../stages/stage-list.ts';
import type { Category } from '../../model/sprint/transition.ts';

type Subject = Pick<OptionsSource, 'roles' | 'run' | 'limits' | 'prompts'>;

/** Where each category leads. */
const REOPENS: Readonly<Record<Category | 'blocked', Reopens>> = {
  scope: { stage: 'PLAN_TODO' },
  ux: { stage: 'PLAN_TODO' },
  architecture: { stage: 'GUIDE' },
  implementation: 'author',
  verification: 'author',
  blocked: 'block',
};

/** One sprint as a list of stages: research, the planner's phases, then each todo through its chain, and the report. */
export function sprintList(options: SprintOptions, subject: Subject): StageList {
  const words = wordsFor(options, subject);
  const { roles, limits } = subject;
  return {
    stages: [
      ...planningStages(options, words),
      ...(options.approve === 'todos' ? [approvalStage(options, limits.reviewRounds, words)] : []),
      ...todoStages(options, limits.reviewRounds, words),
      ...(roles.includes('version-controller') ? [commitStage(options, words)] : []),
      reportStage(options, words),
    ],
  };
}

interface Words {
  /** The folder of the run's documents. */
  readonly folder: string;
  /** A prompt, and what a list fills in below it. */
  readonly brief: <N extends PromptName>(name: N, facts: FactsOf<N>, ...behind: readonly string[]) => string;
  /** Who does the research, and who may if they cannot. */
  readonly researchers: readonly string[];
  /** Who was chosen for a step, and what is expected of them. */
  readonly to: (step: RoutedStep) => string;
  /** The attachments, for those who have not read the kickoff. */
  readonly files: readonly string[];
}

function wordsFor(options: SprintOptions, { roles, run, prompts }: Subject): Words {
  // Braces of a prompt are no placeholders of the list.
  const literal = (text: string): string => text.replaceAll('{', '{{');
  const asked = { policy: options.policy, text: kickoffWords(options), staffed: roles };
  const routed = new Map(routedSteps(asked).map((one) => [one.step, one]));
  const first = routed.get('research_initial')?.role ?? 'research';
  return {
    researchers: [first, ...['research', 'planner'].filter((role) => role !== first)],
    folder: `docs/squad/${run}`,
    brief: (name, facts, ...behind) => [literal(renderPrompt(name, facts, prompts)), ...behind].join('\n\n'),
    to: (step) => {
      const one = routed.get(step);
      if (one === undefined) return '';
      const { role: roleName, strengths, skills: suggested, expected, override: why = '' } = one;
      return literal(
        renderPrompt('sprint/delegation', { step, roleName, strengths, suggested, expected, why }, prompts),
      );
    },
    files: referencesText(options).map(literal),
  };
}

const PLANNER = { by: ['planner'], session: 'role' } as const;
/** One agent of a role has one session for the sprint. A todo that fails stops neither the others nor the report. */
const CHAIN = { session: 'role', onFail: 'skip' } as const;
const ITEM = ['request_id: {item:id}', '{item}'];

function asks({ advice }: SprintOptions): Pick<Stage, 'asks'> {
  return { asks: { of: ['designer', 'architect'], most: advice } };
}

function planningStages(options: SprintOptions, { brief, to, researchers }: Words): Stage[] {
  const { sprint: id, maxTodos } = options;
  const kickoff = kickoffText(options);
  return [
    {
      ...{ id: 'RESEARCH', title: 'Research', makes: { answer: 'research' } },
      by: researchers,
      brief: brief('sprint/research', { id, kickoff }, to('research_initial')),
    },
    {
      ...{ id: 'MILESTONE', title: 'Refine the milestone', ...PLANNER, ...asks(options) },
      makes: { document: 'milestone.md', answer: 'milestone' },
      brief: brief('sprint/milestone', { id, kickoff }, '{of:RESEARCH}', to('milestone_refinement')),
    },
    {
      ...{ id: 'ARTIFACT_SYNC', title: 'Write plan and specification', ...PLANNER, ...asks(options) },
      makes: { documents: ['plan.md', 'spec.md'] },
      brief: brief('sprint/artifacts', {}, '{of:RESEARCH}', to('artifact_sync')),
    },
    {
      ...{ id: 'BACKLOG', title: 'Define the backlog', ...PLANNER, ...asks(options), makes: { answer: 'backlog' } },
      brief: brief(
        'sprint/backlog',
        { id, kickoff, backlog: backlogText(options) },
        '{documents}',
        to('backlog_definition'),
      ),
    },
    {
      ...{ id: 'PRIORITIES', title: 'Set priorities', ...PLANNER, ...asks(options), makes: { answer: 'priorities' } },
      brief: brief('sprint/priorities', { id }, to('backlog_prioritization')),
    },
    {
      ...{ id: 'TODOS', title: 'Choose the todos', ...PLANNER, ...asks(options), makes: { answer: 'todos' } },
      brief: brief('sprint/todos', { id, most: String(maxTodos) }, to('todo_finalization')),
    },
  ];
}

function approvalStage({ sprint: id, estimate }: SprintOptions, rounds: number, { brief }: Words): Stage {
  return {
    ...{ id: 'APPROVE', title: 'A person approves the todos', by: [], makes: { approval: true } },
    brief: brief('sprint/approve', { id, estimate }, '{of:TODOS}'),
    judges: { rounds, else: { redo: 'TODOS' } },
  };
}

function todoStages(options: SprintOptions, rounds: number, { brief, to, folder, files }: Words): Stage[] {
  const { commitPolicy } = options;
  return [
    {
      ...{ id: 'PLAN_TODO', title: 'Plan', ...PLANNER, ...asks(options), onFail: 'skip' },
      ...{ each: { of: 'TODOS' }, makes: { answer: 'planned' } },
      brief: brief('sprint/plan-todo', {}, ...ITEM, to('todo_planning')),
    },
    {
      ...{ id: 'GUIDE', title: 'Guide', by: ['architect'], ...CHAIN },
      ...{ each: { of: 'PLAN_TODO' }, makes: { answer: 'guidance' } },
      brief: brief('sprint/guide', {}, ...ITEM, '{of:PLAN_TODO}', ...files, to('architect_guidance')),
    },
    {
      ...{ id: 'BUILD', title: 'Build', by: ['developer'], ...CHAIN, each: { of: 'GUIDE' } },
      makes: { code: true, answer: 'built', mayChangeNothing: true },
      requires: [subjects(options)],
      brief: brief(
        'sprint/build',
        { path: folder, policy: commitPolicy },
        ...[...ITEM, '{of:PLAN_TODO}', '{of:GUIDE}', ...files, to('developer_build')],
      ),
      review: [
        { id: 'ARCHITECT_REVIEW', by: ['architect'], session: { of: 'GUIDE' }, rounds, reopens: REOPENS },
        { id: 'QA', by: ['qa'], rounds, reopens: REOPENS },
      ],
    },
  ];
}

/** The commits themselves are looked at, because an answer can name another subject. */
function subjects({ commitPolicy }: Pick<SprintOptions, 'commitPolicy'>): StageRequirement {
  const read = readCommitPolicy(commitPolicy, 'COMMIT_POLICY.md');
  // One that cannot be used is refused before a sprint begins.
  const policy = read.ok ? read.value : DEFAULT_COMMIT_POLICY;
  return { subject: { policy, said: ['proposals', 'commit_subject'] } };
}

function commitStage(options: SprintOptions, { brief, to }: Words): Stage {
  const { commitPolicy } = options;
  return {
    ...{ id: 'COMMIT', title: 'Commit', by: ['version-controller'], ...CHAIN, each: { of: 'BUILD' } },
    makes: { commit: true, answer: 'committed' },
    requires: [subjects(options)],
    brief: brief('sprint/commit', { policy: commitPolicy }, ...ITEM, to('version_controller')),
  };
}

/** The planner writes its documents here, once: todos side by side would all change the end of the same file. */
function reportStage({ sprint: id }: SprintOptions, { brief, to, folder }: Words): Stage {
  return {
    ...{ id: 'REPORT', title: 'Report', ...PLANNER },
    makes: { code: true, answer: 'report', mayChangeNothing: true },
    requires: [{ only: [`${folder}/spec.md`, `${folder}/iteration_log.md`] }],
    brief: brief('sprint/report', { id, path: folder }, '{of:PLAN_TODO}', to('sprint_report')),
  };
}
