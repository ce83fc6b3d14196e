import type { AnswerReading, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { AnswerOf } from '../../model/sprint/answers.ts';
import type { SprintOptions } from '../../model/sprint/options.ts';
import type { Forms } from '../stages/stage-options.ts';
import { stageTask } from '../stages/stage-records.ts';
import { backlogNow, putItems } from './backlog-records.ts';
import { writeBacklog } from '../../model/sprint/backlog-writes.ts';
import { subjectProblems } from './commit-subject.ts';
import { blockText, endEarly } from './flow-records.ts';
import { withoutBuild } from './flow.ts';
import { formOf } from './forms.ts';
import { readTodos } from './todos.ts';
import type { AnsweringStep, Transition } from '../../model/sprint/transition.ts';

/** The forms of a sprint's steps, and what each answer does once it counts. */
export function sprintForms(options: SprintOptions): Forms {
  const attachments = options.kickoff.attachments.map(({ name }) => name);
  const about = (step: AnsweringStep, ...roles: string[]) => ({ step, roles, request: options.sprint, attachments });
  const writes = (view: View, answer: AnswerOf<'backlog'>, task: string): AnswerReading => {
    const { backlog_writes: all, workflow_transition: transition } = answer.proposals;
    const facts = { now: view.now, sources: [`sprint:${options.sprint}`] };
    const written = writeBacklog(backlogNow(options.backlog, view), all, facts);
    if (written.problems !== undefined) return { problems: written.problems };
    return { changes: [...putItems(view, written, task), ...onward(view, transition, task)] };
  };
  return {
    research: formOf('research', about('research_initial', 'research', 'planner'), (view, answer, task) => {
      const problems = researchProblems(answer);
      return problems.length > 0 ? { problems } : { changes: onward(view, answer.proposals.workflow_transition, task) };
    }),
    milestone: formOf('milestone', about('milestone_refinement', 'planner'), (view, { proposals }, task) =>
      proposals.title.trim() === ''
        ? { problems: ['`title` is empty'] }
        : { changes: onward(view, proposals.workflow_transition, task) },
    ),
    backlog: formOf('backlog', about('backlog_definition', 'planner'), writes),
    priorities: formOf('backlog', about('backlog_prioritization', 'planner'), writes),
    todos: formOf('todos', about('todo_finalization', 'planner'), (view, { proposals }, task) => {
      const { todos, workflow_transition: transition } = proposals;
      const read = readTodos(options, view, transition.outcome === 'advance' ? todos : []);
      if (read.problems !== undefined) return { problems: read.problems };
      const none = transition.outcome === 'advance' && read.entries.length === 0;
      const changes = none
        ? endEarly(view.now, [NO_TODO, transition.reason.trim()].filter(Boolean).join(': '))
        : onward(view, transition, task);
      return { entries: read.entries, summary: read.entries.map(({ title }) => title).join('; '), changes };
    }),
    planned: formOf('planned', about('todo_planning', 'planner'), (view, { proposals }, task) => {
      const entry = stageTask(view, task)?.entry;
      const isComplete = entry !== undefined && proposals.workflow_transition.outcome === 'complete';
      return isComplete ? { changes: withoutBuild(view, entry) } : {};
    }),
    guidance: formOf('guidance', about('architect_guidance', 'architect')),
    built: formOf('built', about('developer_build', 'developer'), (_, { proposals }) =>
      subjectReading(options, proposals),
    ),
    committed: formOf('committed', about('version_controller', 'version-controller'), (_, { proposals }) =>
      subjectReading(options, proposals),
    ),
    report: formOf('report', about('sprint_report', 'planner'), (_, { proposals: { report } }) =>
      report.headline.trim() === '' ? { problems: ['`headline` is empty'] } : { summary: report.headline },
    ),
  };
}

const NO_TODO = 'planning_incomplete: its planner chose no todo';

/** Changes where a phase of the planning asks for something else than the next one: itself once more, or a person. */
function onward(view: View, transition: Transition, task: string): PlanChange[] {
  const { outcome, reason, unresolved_items: open } = transition;
  if (outcome === 'block') return endEarly(view.now, `planning_incomplete: ${blockText(transition)}`);
  if (outcome !== 'continue') return [];
  const feedback = ['You asked to continue this phase.', reason, ...open.map((one) => `- ${one}`)].join('\n');
  return [{ do: 'reopen-task', id: task, feedback, session: 'same' }];
}

function researchProblems({ proposals }: AnswerOf<'research'>): string[] {
  const { subject, no_subject_reason: noSubject, sources, no_sources_reason: noSources } = proposals;
  const isBlank = (value: string | null): boolean => (value ?? '').trim() === '';
  return [
    ...(isBlank(subject) && isBlank(noSubject)
      ? ['give a `subject`, or say in `no_subject_reason` why there is none']
      : []),
    ...(sources.length === 0 && isBlank(noSources)
      ? ['give `sources`, or say in `no_sources_reason` why there are none']
      : []),
  ];
}

function subjectReading(
  { commitPolicy }: SprintOptions,
  {
    commit_subject: subject,
    no_changes: nothing,
  }: { readonly commit_subject: string | null; readonly no_changes: boolean },
): AnswerReading {
  const problems = [
    ...(subject === null ? [] : subjectProblems(subject, commitPolicy)),
    ...(nothing && subject !== null
      ? ['`no_changes` is true, and there is a `commit_subject`; give one of the two']
      : []),
  ];
  return problems.length > 0 ? { problems } : {};
}
