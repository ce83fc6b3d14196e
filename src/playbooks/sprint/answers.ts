import type { View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { AnswerOf } from '../../model/sprint/answers.ts';
import type { SprintOptions } from '../../model/sprint/options.ts';
import type { Forms } from '../stages/stage-options.ts';
import { stageTask } from '../stages/stage-records.ts';
import { backlogNow, putItems } from './backlog-records.ts';
import { writeBacklog } from '../../model/sprint/backlog-writes.ts';
import { blockText, endEarly, withoutBuild } from './flow.ts';
import { formOf } from './forms.ts';
import { readTodos } from './todos.ts';
import type { AnsweringStep, Transition } from '../../model/sprint/transition.ts';

/** The forms of a sprint's steps, and what each answer does once it counts. */
export function sprintForms(options: SprintOptions): Forms {
  const attachments = options.kickoff.attachments.map(({ name }) => name);
  const about = (step: AnsweringStep, ...roles: string[]) => ({ step, roles, request: options.sprint, attachments });
  const writes = (view: View, { proposals }: AnswerOf<'backlog'>, task: string) => {
    const facts = { now: view.now, sources: [`sprint:${options.sprint}`] };
    const written = writeBacklog(backlogNow(options.backlog, view), proposals.backlog_writes, facts);
    const changes = [...putItems(view, written, task), ...onward(view, proposals.workflow_transition, task)];
    return { problems: written.problems ?? [], changes };
  };
  return {
    research: formOf('research', about('research_initial', 'research', 'planner'), (view, { proposals }, task) => ({
      problems: researchProblems(proposals),
      changes: onward(view, proposals.workflow_transition, task),
    })),
    milestone: formOf('milestone', about('milestone_refinement', 'planner'), (view, { proposals }, task) => ({
      changes: onward(view, proposals.workflow_transition, task),
    })),
    backlog: formOf('backlog', about('backlog_definition', 'planner'), writes),
    priorities: formOf('backlog', about('backlog_prioritization', 'planner'), writes),
    todos: formOf('todos', about('todo_finalization', 'planner'), (view, { proposals }, task) => {
      const { todos, workflow_transition: transition } = proposals;
      const isLast = transition.outcome === 'advance';
      const { problems, entries } = readTodos(options, view, isLast ? todos : []);
      const why = [NO_TODO, transition.reason.trim()].filter(Boolean).join(': ');
      const changes = isLast && entries.length === 0 ? endEarly(view.now, why) : onward(view, transition, task);
      return { problems, entries, summary: entries.map(({ title }) => title).join('; '), changes };
    }),
    planned: formOf('planned', about('todo_planning', 'planner'), (view, { proposals }, task) => {
      const entry = stageTask(view, task)?.entry;
      const isComplete = entry !== undefined && proposals.workflow_transition.outcome === 'complete';
      return isComplete ? { changes: withoutBuild(view, entry) } : {};
    }),
    guidance: formOf('guidance', about('architect_guidance', 'architect')),
    built: formOf('built', about('developer_build', 'developer'), subjectReading),
    committed: formOf('committed', about('version_controller', 'version-controller'), subjectReading),
    report: formOf('report', about('sprint_report', 'planner'), (_, { proposals: { report } }) => ({
      summary: report.headline,
    })),
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

function researchProblems(said: AnswerOf<'research'>['proposals']): string[] {
  const lacks = (value: string | null): boolean => (value ?? '').trim() === '';
  return [
    ...(lacks(said.subject) && lacks(said.no_subject_reason)
      ? ['give a `subject`, or say in `no_subject_reason` why there is none']
      : []),
    ...(said.sources.length === 0 && lacks(said.no_sources_reason)
      ? ['give `sources`, or say in `no_sources_reason` why there are none']
      : []),
  ];
}

/** The subject itself is judged by the commit that has it. */
function subjectReading(_: View, { proposals }: AnswerOf<'built' | 'committed'>): { readonly problems: string[] } {
  const isBoth = proposals.no_changes && proposals.commit_subject !== null;
  return { problems: isBoth ? ['`no_changes` is true, and there is a `commit_subject`; give one of the two'] : [] };
}
