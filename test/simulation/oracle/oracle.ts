import type { RunDefinition } from '../../../src/model/run.ts';
import { judgementAnswerSchema } from '../../../src/model/plan/gate.ts';
import { holds, isMissing, outcomeOfCommand } from './commands.ts';
import type { TurnSeen, WorldRecord } from './record.ts';
import { owesNothing, pieceOf, stageOf } from './stage-of.ts';
import { saidMissing } from './said-missing.ts';

type State = 'met' | 'failed' | 'judged' | 'not-checked';

/** What git shows of the run branch, once all is over. */
interface GitSeen {
  /** undefined: there is no such branch. */
  readonly head: string | undefined;
  readonly base: string;
  /** Where the engine itself put the branch last. */
  readonly delivered: string | undefined;
  filesAt(commit: string): ReadonlyMap<string, string>;
  history(commit: string): ReadonlySet<string>;
}

export interface OracleFacts {
  readonly definition: Pick<
    RunDefinition,
    'objective' | 'verify' | 'strict' | 'agents' | 'playbook' | 'options' | 'baseline'
  >;
  readonly git: GitSeen;
  /** Of turns and checks only those that came to their own end. */
  readonly record: WorldRecord;
  /** Tasks that the headline itself says are missing. */
  readonly leftOut: readonly string[];
}

export interface Verdict {
  /** Why the run may not be called done; empty: it may. */
  readonly flaws: readonly string[];
  /** Of each criterion, on what is on the branch. */
  readonly criteria: readonly State[];
  readonly judges: readonly string[];
  /** Commands of the run that a person left out. */
  readonly without: readonly string[];
  /** Commands of criteria that nothing can run. */
  readonly unrunnable: readonly string[];
  /** Some command of the run itself was run on what is on the branch, and all passed. */
  readonly verified: boolean;
  /** What may have kept a run from its end as done; empty: it has to be done. */
  readonly troubles: readonly string[];
}

/** What may be said of a run that is over: from git, its criteria and what happened in its world, and from nothing of the engine's. */
export function judgeRun(facts: OracleFacts): Verdict {
  const { definition, git, record } = facts;
  const { head } = git;
  const files = head === undefined ? new Map<string, string>() : git.filesAt(head);
  const ran = (run: string): boolean | undefined =>
    record.checks.findLast(({ command, commit }) => command === run && commit === head)?.passed;
  const { judges, states } = judgedBy(facts, files);
  const criteria = definition.objective.criteria.map(({ command }, index): State => {
    if (command === undefined) return states.get(index) ?? 'not-checked';
    const passed = isMissing(command) ? undefined : ran(command);
    return passed === undefined ? 'not-checked' : passed ? 'met' : 'failed';
  });
  const without = leftOutCommands(facts);
  const verify = definition.verify.flatMap(({ run }) => (without.includes(run) ? [] : [run]));
  const own = definition.objective.criteria.flatMap(({ command }) => command ?? []);
  // What cannot run says nothing of the work.
  const commands = [...verify, ...own.filter((run) => !isMissing(run))];
  const unrunnable = [...new Set(own)].filter((run) => isMissing(run) && !without.includes(run) && ran(run) === false);
  return {
    flaws: [
      ...branchFlaws(facts),
      ...commands.flatMap((run) => (holds(run, files) === false ? [`\`${run}\` fails on the branch`] : [])),
      ...commands.flatMap((run) => (ran(run) === true ? [] : [`\`${run}\` was not run on the branch, or failed`])),
      ...criteria.flatMap((state, index) => (state === 'failed' ? [`criterion ${index} is not met`] : [])),
      ...missingWork(facts),
      ...unreviewedWork(facts),
      ...saidMissing(facts),
    ],
    criteria,
    judges,
    verified: verify.length > 0 && verify.every((run) => ran(run) === true),
    without,
    unrunnable,
    troubles: troublesOf(facts),
  };
}

/** The line that a done run has to be told with. `skipped` and `accepted`: tasks by the person who said so. */
export function headlineOf(
  { criteria, judges, verified, without, unrunnable }: Verdict,
  people: { readonly skipped: ReadonlyMap<string, string[]>; readonly accepted: ReadonlyMap<string, string[]> },
): { readonly parts: readonly string[]; readonly isOpen: boolean } {
  const of = `of ${criteria.length} ${criteria.length === 1 ? 'criterion' : 'criteria'}`;
  const count = (wanted: readonly State[]): number => criteria.filter((state) => wanted.includes(state)).length;
  const unchecked = count(['not-checked', 'failed']);
  const judged = count(['judged']);
  const said = (verb: string, by: ReadonlyMap<string, string[]>): string[] =>
    [...by].map(([name, tasks]) => `${verb} by ${name}: ${tasks.toSorted().join(', ')}`);
  const nothing = criteria.length === 0 && !verified ? ['nothing was checked'] : [];
  const open = [
    ...nothing,
    ...(unchecked > 0 ? [`${unchecked} ${of} not checked`] : []),
    ...unrunnable.map((run) => `cannot run \`${run}\`: ${outcomeOfCommand(run, new Map(), 0).text}`),
    ...said('skipped', people.skipped),
    ...said('accepted', people.accepted),
    ...(without.length > 0 ? [`left out by a person: ${without.map((run) => `\`${run}\``).join(', ')}`] : []),
  ];
  const parts = [...open, ...(judged > 0 ? [`${judged} ${of} judged by ${judges.join(', ')}, not run`] : [])];
  return { parts: parts.length === 0 ? ['all work is delivered and verified'] : parts, isOpen: open.length > 0 };
}

/** What a person was asked about before any work was paid for, and said to leave out. */
export function leftOutCommands({ definition, record, git }: OracleFacts): string[] {
  const asked = record.answers.findLast(({ question }) => question.startsWith('engine/baseline/'));
  if (asked?.answer !== 'go on without it') return [];
  const failed = (run: string): boolean =>
    record.checks.some(({ command, commit, passed }) => command === run && commit === git.base && !passed);
  const criteria = definition.objective.criteria.flatMap(({ command }) => command ?? []);
  return [
    ...definition.verify.flatMap(({ run }) =>
      failed(run) && (isMissing(run) || definition.baseline === 'green') ? [run] : [],
    ),
    // The script that another one names might come with the work.
    ...[...new Set(criteria)].filter((run) => run.startsWith('no-such-program') && failed(run)),
  ];
}

function branchFlaws({ git, record }: OracleFacts): string[] {
  const { head, delivered, base } = git;
  if (head === undefined) return ['the run branch is gone'];
  const history = git.history(head);
  const foreign = [...record.strangers].filter((commit) => history.has(commit));
  const isTakenIn = record.answers.some(({ answer }) => answer === 'take in');
  const judged = (commit: string): boolean =>
    record.turns.some(
      (turn) => turn.task.startsWith('foreign') && isApproval(turn) && git.history(turn.commit ?? base).has(commit),
    );
  const accepted = record.words.some(({ as, task }) => as === 'done' && task.startsWith('foreign'));
  return [
    ...(head === delivered ? [] : [`the branch is at ${head}, and the engine put it to ${delivered ?? 'nothing'}`]),
    ...(foreign.length === 0 || isTakenIn ? [] : ['a stranger’s commit is in it that nobody took in']),
    ...foreign.flatMap((one) => (accepted || judged(one) ? [] : [`nobody reviewed the stranger’s ${one}`])),
  ];
}

/** By the last task that was to judge, where it judged what is on the branch and its agent wrote none of it. */
function judgedBy({ git, record }: OracleFacts, files: ReadonlyMap<string, string>) {
  const states = new Map<number, State>();
  const turns = record.turns.filter(({ form }) => form === 'verdicts');
  const last = turns.at(-1);
  const turn = turns.findLast(({ task, answer }) => task === last?.task && answer !== undefined);
  const wrote = record.turns.some(({ agent, owns }) => owns && agent === turn?.agent);
  if (turn === undefined || wrote || turn.commit !== git.head) return { states, judges: [] };
  for (const { criterion: label, met, evidence } of judgementAnswerSchema.parse(turn.answer).verdicts) {
    const criterion = Number(label.slice(1)) - 1;
    if (states.has(criterion)) continue;
    const quoted = evidence !== null && 'quote' in evidence ? evidence : undefined;
    if (!met) states.set(criterion, 'failed');
    else if (quoted !== undefined && files.get(quoted.file)?.includes(quoted.quote) === true)
      states.set(criterion, 'judged');
  }
  return { states, judges: [...states.values()].includes('judged') ? [turn.agent] : [] };
}

/** Work that agents did or were told to do and that is in no version of the branch, where no person left it out. */
function missingWork({ definition: { playbook }, git, record, leftOut }: OracleFacts): string[] {
  const { head } = git;
  if (head === undefined) return [];
  const versions = [...git.history(head)].map((commit) => git.filesAt(commit));
  const isIn = ({ wrote }: TurnSeen): boolean =>
    wrote === undefined || versions.some((files) => files.get(wrote.path) === wrote.text);
  const words = record.words.flatMap(({ task, verb }) => (verb === 'retry' ? [] : [task]));
  const left = new Set(leftOut);
  // Without its commit, what a piece made is left out as well.
  const isDecided = (id: string): boolean =>
    [id, `${pieceOf(id)}-commit`].some((one) => words.includes(one) || left.has(stageOf(one, left)) || left.has(one));
  const tasks = [...new Set(record.turns.flatMap(({ task, owns }) => (owns ? [task] : [])))];
  const planned = record.turns.findLast(({ form, answer }) => form === 'summary tasks' && answer !== undefined)?.answer;
  const wanted = typeof planned === 'object' && planned !== null && 'tasks' in planned ? planned['tasks'] : [];
  const ids = Array.isArray(wanted) ? wanted.map((one) => (one as { id: string }).id) : [];
  return [
    ...ids.flatMap((id) => (tasks.includes(id) || isDecided(id) ? [] : [`${id} was planned, and nobody did it`])),
    ...tasks.flatMap((task) => {
      const last = record.turns.findLast((turn) => turn.task === task && turn.wrote !== undefined);
      const isTalk = task.startsWith('answer-') || task.endsWith('-commit');
      if (isDecided(task) || isTalk) return [];
      if (last === undefined) return owesNothing(playbook, task) ? [] : [`${task} was begun, and nothing came of it`];
      return isIn(last) ? [] : [`what ${last.id} wrote is not on the branch`];
    }),
  ];
}

/** Work that a message added, and that no agent was ever told of. */
export function lostOrders({ record }: OracleFacts): string[] {
  // A word on a task may end what its message asked for; of what a turn says again, once it came back, the last counts.
  if (record.words.length > 0) return [];
  const last = new Map(record.orders.map((order) => [order.task, order]));
  return [...last.values()].flatMap(({ turn, id }) => {
    const takesEffect = turn === undefined || record.turns.some((one) => one.id === turn && one.isDone);
    const isTold = record.turns.some(({ prompt, id: reader }) => reader !== turn && prompt.includes(id));
    return takesEffect && !isTold ? [`nobody was told of the work of message ${id}`] : [];
  });
}

/** What builders wrote is on the branch only if a reviewer approved a commit that has it. */
function unreviewedWork({ definition, git, record }: OracleFacts): string[] {
  const { head } = git;
  const { agents, playbook } = definition;
  const hasReviewer = agents.some(({ role }) => role === 'reviewer');
  if (head === undefined || !hasReviewer || !['delivery', 'objective'].includes(playbook)) return [];
  const builders = new Set(agents.flatMap(({ name, role }) => (role === 'builder' ? [name] : [])));
  const decided = new Set(record.words.flatMap(({ task, as }) => (as === 'done' ? [task] : [])));
  const files = git.filesAt(head);
  return record.turns.flatMap(({ id, task, agent, wrote, owns }) => {
    const isOfStage = /^(?:research|test-strategy|test)(?:-\d+)?$/.test(task) || task.startsWith('answer-');
    if (!owns || wrote === undefined || !builders.has(agent) || decided.has(task) || isOfStage) return [];
    if (files.get(wrote.path) !== wrote.text) return [];
    const approved = record.turns.some(
      (turn) =>
        turn.task === task && isApproval(turn) && git.filesAt(turn.commit ?? git.base).get(wrote.path) === wrote.text,
    );
    return approved ? [] : [`nobody reviewed what ${id} wrote`];
  });
}

function isApproval({ form, answer }: TurnSeen): boolean {
  if (form !== 'approved checks findings settled summary' || typeof answer !== 'object' || answer === null)
    return false;
  return 'approved' in answer && answer['approved'] === true;
}

function troublesOf({ git, record, definition }: OracleFacts): string[] {
  return [
    ...(git.head === git.delivered ? [] : ['a stranger moved the branch at the very end']),
    ...record.turns.flatMap(({ id, trouble }) => (trouble === undefined ? [] : [`${id}: ${trouble}`])),
    ...record.turns.flatMap(({ id, removed }) => (removed ? [`${id} deleted another task's file`] : [])),
    ...record.checks.flatMap(({ passed, command }) => (passed ? [] : [`\`${command}\` failed`])),
    ...record.words.map(({ verb, task, by }) => `${by} said ${verb} of ${task}`),
    ...record.answers.flatMap(({ answer }) => (answer === 'give up' ? ['a person gave up'] : [])),
    ...(record.answers.some(({ answer }) => answer === 'take in') ? ['a stranger’s commit was taken in'] : []),
    // Two who write one document may conflict.
    ...(definition.playbook === 'council' && record.orders.length > 0 ? ['mail added work'] : []),
  ];
}
