import type { TaskView, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { NewTask, Requirement } from '../../model/plan/task.ts';
import { DOCUMENTATION } from '../shared/mail-asks.ts';
import { missingIn } from '../../text/missing-in.ts';
import { addTask, ENDED, workTask } from '../shared/tasks.ts';
import { atMost } from '../../text/at-most.ts';
import { closedSchema, improvedSchema } from './answers.ts';
import { assignmentsIn, checkAssignments, isInBrief, needsOf, type Assignment } from './assignments.ts';
import { assignBrief, closeBrief, executeBrief, improveBrief, reviewBrief, verifyBrief } from './briefs.ts';
import type { Council, Seat } from './council.ts';
import { assignAsk, endMessage, replyOf, reviewAsk, verifyAsk } from './messages.ts';
import { minutesTexts } from './minutes-texts.ts';
import { councilTexts } from './texts.ts';
import { askingsOf, GIVEN_UP, outcomeOf, silentIn } from './outcome.ts';
import { REVIEW, sayingsTo, taskOf, verifyOf, type Asking } from './sayings.ts';

/**
 * The next step of the council, derived from tasks and mail alone: review → (improve → verify)… → assign → execute → close. Derived
 * again after each event, so that the order of a turn's end and its mail does not matter.
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
    if (round === 1 && sayings.every(({ how }) => how === 'failed')) return [stop(councilTexts(view).noMemberReviewed)];
    if (sayings.every(({ issues, questions }) => issues.length === 0 && questions.length === 0)) break;
    const improve = view.task(`improve-${round}`);
    if (improve === undefined) {
      if (round > council.rounds) return giveUp(view, council);
      const text = improveBrief(view, council, round, sayings);
      const says = sayings.flatMap(({ messages }) => messages);
      return [addTask(improveTask(view, council, round, { text, says }))];
    }
    if (!ENDED.has(improve.status)) return [];
    // A person who skips it wants the document as it is.
    if (improve.status === 'skipped') break;
    if (improve.status !== 'done') return [stop(councilTexts(view).notImproved(improve.why ?? improve.status))];
  }
  return work(view, council);
}

function ask(view: View, council: Council, asking: Asking, round: number): PlanChange[] {
  const improved = view.task(`improve-${round - 1}`);
  const review = asking.action === 'review';
  const texts = councilTexts(view);
  const changes = improvedSchema.safeParse(improved?.answer).data?.changes_summary ?? '';
  const brief = review ? reviewBrief(view, council) : verifyBrief(view, council, improved);
  const tasks = council.members.map((seat) => {
    const title = review ? texts.reviewTitle(seat.address) : texts.verifyTitle(seat.address);
    return workTask(
      { id: taskOf(council, asking, seat), title, role: 'member', brief },
      { agent: seat.agent, session: 'agent', output: { schema: 'findings', repairs: 1 } },
    );
  });
  const message = review ? reviewAsk(view, council) : verifyAsk(view, council, asking, changes);
  return [message, ...tasks.map(addTask)];
}

function improveTask(view: View, council: Council, round: number, brief: NewTask['brief']): NewTask {
  const task = workTask(
    {
      id: `improve-${round}`,
      title: councilTexts(view).improveTitle(council.document).slice(0, 80),
      role: 'main',
      brief: brief.text,
    },
    {
      agent: council.main.agent,
      session: 'agent',
      workspace: 'own',
      integrate: true,
      requires: [...committed(council.main), { kind: 'only', paths: documentation(council) }],
      output: { schema: 'improved', repairs: 1 },
    },
  );
  return { ...task, brief: { ...task.brief, ...brief } };
}

/** The paths that MAIN may change. */
export function documentation({ document }: Council): string[] {
  return [...DOCUMENTATION, document];
}

function committed({ commits }: Seat): Requirement[] {
  return commits ? [{ kind: 'commit' }] : [{ kind: 'diff' }];
}

/** The members do not agree after the last round: no work is assigned, and MAIN lists what is open. */
function giveUp(view: View, council: Council): PlanChange[] {
  const why = minutesTexts(view).stillOpen(council.rounds);
  return [{ do: 'put', in: 'council', id: GIVEN_UP, value: why }, ...close(view, council, why)];
}

function work(view: View, council: Council): PlanChange[] {
  const task = view.task('assign');
  if (task === undefined) return [addTask(assignTask(view, council))];
  if (!ENDED.has(task.status)) return [];
  const given = assignmentsIn(view, council);
  if (given.length === 0 && (task.status === 'failed' || task.status === 'cancelled')) {
    return [stop(councilTexts(view).assignedNothing(task.why ?? task.status))];
  }
  if (task.status === 'done' && view.record('council', ANSWERED) === undefined) {
    return assignedBy(view, council, task, given);
  }
  const added = given.flatMap((one) =>
    view.task(one.task) === undefined ? [addTask(executeTask(view, one, given, council))] : [],
  );
  return added.length > 0 ? added : close(view, council);
}

function assignTask(view: View, council: Council): NewTask {
  const brief = assignBrief(view, council, silentIn(view, council));
  return workTask(
    { id: 'assign', title: councilTexts(view).assignTitle, role: 'main', brief },
    { agent: council.main.agent, session: 'agent', output: { schema: 'assigned', repairs: 1 } },
  );
}

/** Id of the record that the assignments in MAIN's answer were sent. */
const ANSWERED = 'answered';

/** Sends the assignments in MAIN's answer that it has not sent itself, once and in its name. The messages then create the tasks. */
function assignedBy(view: View, council: Council, task: TaskView, given: readonly Assignment[]): PlanChange[] {
  const texts = councilTexts(view);
  const checked = checkAssignments(task.answer, council, given, texts);
  if (!checked.ok) {
    const text = checked.problems.join('\n');
    if (task.round > 1) return [stop(texts.notBuilt(text))];
    return [{ do: 'reopen-task', id: task.id, session: 'same', feedback: texts.assignAgain(text) }];
  }
  const messages = checked.assigned.map((assigned) => assignAsk(view, council, assigned));
  return [...messages, { do: 'put', in: 'council', id: ANSWERED, value: true }, again(view)];
}

function executeTask(view: View, one: Assignment, all: readonly Assignment[], council: Council): NewTask {
  const { seat, task, to, task_type: type } = one;
  const commits = seat?.commits ?? council.members.every((member) => member.commits);
  const work = workTask(
    {
      id: task,
      title: councilTexts(view).workTitle(type, to).slice(0, 80).toWellFormed(),
      role: 'member',
      brief: executeBrief(view, one, council),
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
  const mail = one.mail.key === undefined ? { mail: [one.mail.id] } : {};
  const says = isInBrief(one) ? { says: [one.mail.id] } : {};
  return { ...work, brief: { ...work.brief, ...mail, ...says } };
}

/** Once no task is open, MAIN reads the remaining mail and sums up. Then the run ends, whatever became of that turn. */
function close(view: View, council: Council, givenUp?: string): PlanChange[] {
  if (view.tasks({ ended: false }).length > 0) return [];
  const { outcome, lines } = outcomeOf(view, council, givenUp);
  const closed = view.task('close');
  if (closed !== undefined) return [{ do: 'finish', outcome, why: lines.join('\n'), remarks: openIn(view, closed) }];
  const task = workTask(
    { id: 'close', title: councilTexts(view).closeTitle, role: 'main', brief: closeBrief(view, lines) },
    { agent: council.main.agent, session: 'agent', retries: 1, output: { schema: 'closed', repairs: 1 } },
  );
  return [addTask(task)];
}

/** Open points of MAIN's last answer, for the final word of the run. */
function openIn(view: View, { answer }: TaskView): string[] {
  const texts = councilTexts(view);
  const points = missingIn(closedSchema.safeParse(answer).data?.open_points ?? []);
  return atMost(points, MOST_OPEN, texts.andMore).map(texts.open);
}

const MOST_OPEN = 3;

/** The messages for answers that members gave by their turns alone, and for the ends of assigned work. */
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
    const message = endMessage(one, task, by);
    return last?.type === type || view.mail({ key: message.key ?? '' }).length > 0 ? [] : [message];
  });
  return [...said, ...ended];
}

export const LOOK = 'council';

/** Derives the next step again once everything of this input is applied. */
export function again({ now }: Pick<View, 'now'>): PlanChange {
  return { do: 'set-timer', id: LOOK, at: now };
}

export function stop(why: string): PlanChange {
  return { do: 'finish', outcome: 'failed', why };
}
