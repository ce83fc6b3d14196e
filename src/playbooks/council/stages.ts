import type { TaskView, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { NewTask, Requirement } from '../../model/plan/task.ts';
import { DOCUMENTATION } from '../shared/mail-asks.ts';
import { addTask, ENDED, workTask } from '../shared/tasks.ts';
import { improvedSchema } from './answers.ts';
import { assignmentsIn, checkAssignments, needsOf, type Assignment } from './assignments.ts';
import { assignBrief, closeBrief, executeBrief, improveBrief, reviewBrief, verifyBrief } from './briefs.ts';
import type { Council, Seat } from './council.ts';
import { assignAsk, endOf, replyOf, reviewAsk, verifyAsk } from './letters.ts';
import { askingsOf, GIVEN_UP, outcomeOf, silentIn } from './outcome.ts';
import { REVIEW, sayingsTo, taskOf, verifyOf, type Asking } from './sayings.ts';

/**
 * Where the council stands and what comes next, from what is there alone: review → (improve → verify)… → assign → execute →
 * close. Looked at again after everything that happens, so that no order of a turn's end and its mail can matter.
 */
export function nextStep(view: View, council: Council): PlanChange[] {
  return [...repliesOf(view, council), ...nextStage(view, council)];
}

function nextStage(view: View, council: Council): PlanChange[] {
  if (view.record('council', GIVEN_UP) !== undefined) return close(view, council);
  for (let round = 1; ; round += 1) {
    const asking = round === 1 ? REVIEW : verifyOf(round - 1);
    const sayings = sayingsTo(view, council, asking);
    if (sayings.length === 0) return ask(view, council, asking, round);
    if (sayings.some(({ how }) => how === 'waiting')) return [];
    if (round === 1 && sayings.every(({ how }) => how === 'failed')) return [stop('no member could review')];
    if (sayings.every(({ issues, questions }) => issues.length === 0 && questions.length === 0)) break;
    const improve = view.task(`improve-${round}`);
    if (improve === undefined) {
      if (round > council.rounds) return giveUp(view, council);
      const brief = improveBrief(council, round, sayings);
      return [addTask(improveTask(council, round, brief))];
    }
    if (!ENDED.has(improve.status)) return [];
    // Whoever skips it wants it as it is.
    if (improve.status === 'skipped') break;
    if (improve.status !== 'done') return [stop(`the document was not improved: ${improve.why ?? improve.status}`)];
  }
  return work(view, council);
}

function ask(view: View, council: Council, asking: Asking, round: number): PlanChange[] {
  const improved = view.task(`improve-${round - 1}`);
  const review = asking.action === 'review';
  const changes = improvedSchema.safeParse(improved?.answer).data?.changes_summary ?? '';
  const brief = review ? reviewBrief(council) : verifyBrief(council, improved);
  const tasks = council.members.map((seat) => {
    const title = review ? `Review by ${seat.address}` : `Verification by ${seat.address}`;
    return workTask(
      { id: taskOf(council, asking, seat), title, role: 'member', brief },
      { agent: seat.agent, session: 'agent', output: { schema: 'findings', repairs: 1 } },
    );
  });
  const letter = review ? reviewAsk(view, council) : verifyAsk(view, council, asking, changes);
  return [letter, ...tasks.map(addTask)];
}

function improveTask(council: Council, round: number, brief: string): NewTask {
  return workTask(
    { id: `improve-${round}`, title: `Improve ${council.document}`.slice(0, 80), role: 'main', brief },
    {
      agent: council.main.agent,
      session: 'agent',
      workspace: 'own',
      integrate: true,
      requires: [...committed(council.main), { kind: 'only', paths: documentation(council) }],
      output: { schema: 'improved', repairs: 1 },
    },
  );
}

/** What MAIN may change. */
export function documentation({ document }: Council): string[] {
  return [...DOCUMENTATION, document];
}

function committed({ commits }: Seat): Requirement[] {
  return commits ? [{ kind: 'commit' }] : [{ kind: 'diff' }];
}

/** The members do not agree after all rounds: nothing is built on it, and MAIN says what is open. */
function giveUp(view: View, council: Council): PlanChange[] {
  const why = `issues were still open after ${council.rounds} rounds`;
  return [{ do: 'put', in: 'council', id: GIVEN_UP, value: why }, ...close(view, council, why)];
}

function work(view: View, council: Council): PlanChange[] {
  const task = view.task('assign');
  if (task === undefined) return [addTask(assignTask(view, council))];
  if (!ENDED.has(task.status)) return [];
  const given = assignmentsIn(view, council);
  if (given.length === 0 && (task.status === 'failed' || task.status === 'cancelled')) {
    return [stop(`MAIN assigned nothing: ${task.why ?? task.status}`)];
  }
  if (task.status === 'done' && view.record('council', ANSWERED) === undefined) {
    return assignedBy(view, council, task, given);
  }
  const added = given.flatMap((one) =>
    view.task(one.task) === undefined ? [addTask(executeTask(one, given, council))] : [],
  );
  return added.length > 0 ? added : close(view, council);
}

function assignTask(view: View, council: Council): NewTask {
  const brief = assignBrief(view, council, silentIn(view, council));
  return workTask(
    { id: 'assign', title: 'Assign the work', role: 'main', brief },
    { agent: council.main.agent, session: 'agent', output: { schema: 'assigned', repairs: 1 } },
  );
}

/** The id of the record that MAIN's answer was turned into messages. */
const ANSWERED = 'answered';

/** Sends the assignments in MAIN's answer that it has not sent itself, once and in its name. The messages then create the tasks. */
function assignedBy(view: View, council: Council, task: TaskView, given: readonly Assignment[]): PlanChange[] {
  const checked = checkAssignments(task.answer, council, given);
  if (!checked.ok) {
    const text = checked.problems.join('\n');
    if (task.round > 1) return [stop(`what MAIN assigned cannot be used:\n${text}`)];
    return [
      { do: 'reopen-task', id: task.id, session: 'same', feedback: `These assignments cannot be used:\n${text}` },
    ];
  }
  const letters = checked.assigned.map((assigned) => assignAsk(view, council, assigned));
  return [...letters, { do: 'put', in: 'council', id: ANSWERED, value: true }, again(view)];
}

function executeTask(one: Assignment, all: readonly Assignment[], council: Council): NewTask {
  const { seat, task, to, task_type: type } = one;
  const commits = seat?.commits ?? council.members.every((member) => member.commits);
  const work = workTask(
    {
      id: task,
      title: `${type} by ${to}`.slice(0, 80).toWellFormed(),
      role: 'member',
      brief: executeBrief(one, council),
    },
    {
      ...(seat === undefined ? {} : { agent: seat.agent }),
      session: 'agent',
      needs: needsOf(one, all),
      workspace: 'own',
      integrate: true,
      requires: commits ? [{ kind: 'commit' }, { kind: 'diff' }] : [{ kind: 'diff' }],
    },
  );
  return one.mail.key === undefined ? { ...work, brief: { ...work.brief, mail: [one.mail.id] } } : work;
}

/** Once nothing is open MAIN reads what is left and sums up; then it is over, however that went. */
function close(view: View, council: Council, givenUp?: string): PlanChange[] {
  if (view.tasks({ ended: false }).length > 0) return [];
  const { outcome, lines } = outcomeOf(view, council, givenUp);
  if (view.task('close') !== undefined) return [{ do: 'finish', outcome, why: lines.join('\n') }];
  const task = workTask(
    { id: 'close', title: 'Close the council', role: 'main', brief: closeBrief(lines) },
    { agent: council.main.agent, session: 'agent', retries: 1, output: { schema: 'closed', repairs: 1 } },
  );
  return [addTask(task)];
}

/** What members answered by their turns alone, as messages; and how assigned work has ended. */
function repliesOf(view: View, council: Council): PlanChange[] {
  const said = askingsOf(view).flatMap((asking) =>
    sayingsTo(view, council, asking)
      .filter(({ how }) => how === 'answer')
      .map((saying) => replyOf(view, council, asking, saying)),
  );
  const ended = assignmentsIn(view, council).flatMap((one): PlanChange[] => {
    const task = view.task(one.task);
    const by = one.seat?.address ?? council.members.find(({ agent }) => agent === task?.doneBy)?.address;
    if (task === undefined || by === undefined || !ENDED.has(task.status)) return [];
    const type = task.status === 'done' ? 'done' : 'fail';
    const last = view
      .mail({ re: one.mail.id, from: by })
      .findLast((mail) => mail.type === 'done' || mail.type === 'fail');
    const letter = endOf(one, task, by);
    return last?.type === type || view.mail({ key: letter.key ?? '' }).length > 0 ? [] : [letter];
  });
  return [...said, ...ended];
}

export const LOOK = 'council';

/** Looks again once all that came with this input has been heard. */
export function again({ now }: Pick<View, 'now'>): PlanChange {
  return { do: 'set-timer', id: LOOK, at: now };
}

function stop(why: string): PlanChange {
  return { do: 'finish', outcome: 'failed', why };
}
