import type { RunStatus } from '../../../src/view/status.ts';
import { isMissing } from './commands.ts';
import { leftOutCommands, type OracleFacts } from './oracle.ts';
import { owesNothing, pieceOf, stageOf } from './stage-of.ts';
import { SLOW, type CheckSeen, type TurnSeen } from './record.ts';

/**
 * Something that went wrong, and did not come right again: its first fact, with the words of all that happened to it since. Of a
 * failed run, the earliest one is its first cause: what comes later may follow from it.
 */
interface Wrong {
  readonly at: number;
  readonly what: string;
  /** Patterns. One of them has to be in the last word. */
  readonly words: readonly RegExp[];
  readonly of: readonly string[];
}

/** A fact about a subject: it went wrong (`words`), or right, which makes all good that went wrong before. */
interface Fact {
  readonly subject: string;
  readonly at: number;
  readonly what: string;
  readonly words: readonly RegExp[] | undefined;
  /** Subjects of the work that it is about: what became of that is why this was never made good. Absent: of none. */
  readonly of?: readonly string[];
}

/** The first cause of a failed run, if its last word does not name it. */
export function unnamedCause(facts: OracleFacts, status: RunStatus): string[] {
  // Whoever fails a task, or accepts one that cannot be delivered, needs no other cause.
  if (status.tasks.some(({ id, status: as }) => as === 'failed' && isDecidedByPerson(facts, id, status.headline)))
    return [];
  // Without a plan nothing is left to do.
  const hasNoPlan = facts.record.words.some(({ task, verb }) => task === 'plan' && verb === 'skip');
  if (hasNoPlan && status.headline === 'FAILED, the plan was skipped') return [];
  // A word that is given while no engine runs counts once one does: a turn may begin before.
  const skipped = new Set(status.tasks.flatMap(({ id, status: as }) => (as === 'skipped' ? [id] : [])));
  const words = facts.record.words.map((word) =>
    word.verb === 'skip' && skipped.has(word.task) ? { ...word, at: Number.POSITIVE_INFINITY } : word,
  );
  const [first] = wrongs({ ...facts, record: { ...facts.record, words } });
  if (first === undefined) return [];
  const said = [
    status.headline ?? '',
    ...status.failures.flatMap(({ why, ended }) => [why, ended ?? '']),
    ...status.rejections.flatMap(({ rounds }) => rounds.map(({ text }) => text)),
  ].join('\n');
  return first.words.some((word) => word.test(said))
    ? []
    : [`the first cause is not named: ${first.what}; it says: ${said.slice(0, 600)}`];
}

/** All that went wrong and did not come right, the earliest first. */
function wrongs(facts: OracleFacts): Wrong[] {
  const open = new Map<string, Wrong>();
  for (const { subject, at, what, words, of = [] } of factsIn(facts).toSorted((a, b) => a.at - b.at)) {
    const before = open.get(subject);
    if (words === undefined) open.delete(subject);
    else
      open.set(
        subject,
        before === undefined ? { at, what, words, of } : { ...before, of, words: [...before.words, ...words] },
      );
  }
  return [...open.values()]
    .map((wrong) => ({ ...wrong, words: [...wrong.words, ...wrong.of.flatMap((one) => open.get(one)?.words ?? [])] }))
    .toSorted((a, b) => a.at - b.at);
}

function factsIn(facts: OracleFacts): Fact[] {
  const { record, definition, git } = facts;
  const without = leftOutCommands(facts);
  const { list } = definition.options as { readonly list?: { readonly stages: readonly { makes: object }[] } };
  const ownChecks = JSON.stringify((list?.stages ?? []).map(({ makes }) => ('checks' in makes ? makes.checks : [])));
  const skips = JSON.stringify(definition.options).includes('"onFail":"skip"');
  // A stranger may have put the branch elsewhere since.
  const heads = [git.head, git.delivered].flatMap((head) => head ?? []);
  const versions = heads.flatMap((head) => [...git.history(head)]).map((commit) => git.filesAt(commit));
  const isDelivered = ({ wrote }: TurnSeen): boolean =>
    wrote !== undefined && versions.some((files) => files.get(wrote.path) === wrote.text);
  const lastDelivered = new Map(record.turns.filter(isDelivered).map(({ task, at }) => [task, at]));
  const isEnded = (task: string, at: number): boolean =>
    record.words.some(
      ({ task: of, verb, at: said }) => pieceOf(of) === pieceOf(task) && verb !== 'retry' && said >= at,
    );
  // What is on no version of the branch was checked with its own task alone.
  const checkedAlone = ({ commit }: CheckSeen): readonly string[] => {
    const files = commit === undefined ? undefined : git.filesAt(commit);
    const isIn = ({ wrote }: TurnSeen): boolean => wrote !== undefined && files?.get(wrote.path) === wrote.text;
    const own = record.turns.flatMap((turn) => (isIn(turn) && !isDelivered(turn) ? [turn.task] : []));
    const history = commit === undefined ? new Set<string>() : git.history(commit);
    return [...own, ...([...record.strangers].some((one) => history.has(one)) ? ['foreign'] : [])];
  };
  const tasks = new Set(record.turns.map(({ task }) => task));
  return [
    ...record.turns.flatMap((turn) => {
      const { task, at, form } = turn;
      const delivered = lastDelivered.get(task) ?? Number.NEGATIVE_INFINITY;
      const lastWrite = record.turns.findLast((other) => other.task === task && other.wrote !== undefined);
      // A turn that adds nothing takes nothing from what an earlier one delivered.
      const addsNothing =
        (turn.wrote === undefined && delivered === lastWrite?.at) ||
        (turn.wrong === 'it did nothing' && owesNothing(definition.playbook, task));
      const isOver = at <= delivered || addsNothing || (form === REVIEW && delivered > Number.NEGATIVE_INFINITY);
      // What squad itself ended follows from something else.
      const isCut = turn.wrong === 'ended by the engine';
      const isReplaced = !turn.isDone && form === REVIEW && record.turns.some((other) => replaces(other, turn, record));
      const isNone = isBeside(turn, skips, definition.playbook) || isOver || isEnded(task, at) || isCut || isReplaced;
      return isNone ? [] : ofTurn({ ...turn, task: stageOf(task, tasks) });
    }),
    ...record.checks.flatMap((check) => {
      const { id, command, at, passed } = check;
      // What is red where the run begins is reported, and holds it only by a person's word.
      const alone = checkedAlone(check);
      if (id.includes('.baseline-') || (!passed && alone.some((task) => isEnded(task, at)))) return [];
      if (without.includes(command) || isVoid(check, record)) return [];
      // A criterion that cannot be checked fails nothing.
      const ofCriteria = id.includes('.criterion-') || (id.includes('.evidence-') && !ownChecks.includes(command));
      if (isMissing(command) && ofCriteria) return [];
      const words = passed ? undefined : [literal(command)];
      const of = alone.map((task) => `work of ${pieceOf(task)}`);
      return [{ subject: `command ${command}`, at, what: `\`${command}\` failed`, words, of }];
    }),
    ...record.givenUp.flatMap(({ turn, task }) => {
      const at = record.turns.find(({ id, isDone }) => id === turn && isDone)?.at;
      return at === undefined || task.startsWith('answer-')
        ? []
        : [{ subject: `work of ${task}`, at: at + 1, what: `${turn} gave up`, words: [/it cannot be done/] }];
    }),
  ];
}

/** A check of the whole, into which other work came than a repair: its results count for nothing, and no one was told of them. */
function isVoid({ id, commit }: CheckSeen, { checks, turns }: OracleFacts['record']): boolean {
  if (!GATE.test(id)) return false;
  const from = Math.min(...checks.flatMap((one) => (one.commit === commit && GATE.test(one.id) ? [one.at] : [])));
  const later = turns.filter(({ at, owns, task }) => owns && at >= from && !task.startsWith('answer-'));
  return later.length > 0 && !later.some(({ task }) => task.startsWith('fix-'));
}

const GATE = /\.(?:gate|criterion)-/;

/** Another agent, who had no part in the task before, gave the verdict that this turn owes. */
function replaces(other: TurnSeen, turn: TurnSeen, { turns }: OracleFacts['record']): boolean {
  if (other.task !== turn.task || other.form !== REVIEW || !other.isDone || other.at < turn.at + turn.ms) return false;
  return !turns.some(({ task, agent, at }) => task === turn.task && agent === other.agent && at < turn.at + turn.ms);
}

function isDecidedByPerson({ record }: OracleFacts, id: string, headline: string | null): boolean {
  const isNamed = headline?.startsWith(`FAILED, ${id}: `) === true;
  return record.words.some(
    ({ task, verb, as }) => task === id && verb === 'override' && (as === 'failed' || (as === 'done' && isNamed)),
  );
}

const REVIEW = 'approved checks findings settled summary';

/** What no end of a run hangs on: answers, the word of a judge of criteria, and what a list may do without. */
function isBeside({ task, form }: Pick<TurnSeen, 'task' | 'form'>, skips: boolean, playbook: string): boolean {
  if (/^(?:answer-|judge|foreign)/.test(task) || form === 'verdicts') return true;
  if (playbook === 'council') return /^(?:review|verify|close)/.test(task);
  return skips && /^(?:notes|look|check|close)/.test(task);
}

function ofTurn({ id, at, ms, agent, task, form, isDone, answer, trouble, wrong }: TurnSeen): Fact[] {
  const isReview = form === REVIEW;
  // A test of a piece sends its author back, whose next turn answers it.
  const work = `work of ${pieceOf(task)}`;
  const subject = isReview ? `review of ${task} by ${agent}` : work;
  const of = isReview ? [work] : [];
  const what = `${id}: ${trouble ?? 'done'}`;
  // A turn goes wrong at its end, also where squad ends it.
  const end = at + Math.min(ms, PATIENCE_MS);
  if (!isDone || wrong !== undefined) return [{ subject, at: end, what, words: wordsOf(wrong ?? trouble ?? ''), of }];
  const words = isJudgement(form) ? rejectionIn(answer) : undefined;
  const came = { subject, at: end, what, words: undefined };
  return words === undefined ? [came] : [came, { ...came, words, of }];
}

/** After so long squad ends a turn that uses no tool. */
const PATIENCE_MS = 240_000;

function isJudgement(form: string): boolean {
  return form.startsWith('approved ') || form === 'failures passed summary' || form === 'followUps left summary tryIt';
}

/** What a verdict has against the work; undefined: nothing. */
function rejectionIn(answer: TurnSeen['answer']): RegExp[] | undefined {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return undefined;
  const { approved, passed, findings, failures, left } = answer;
  const texts = [findings, failures, left].flatMap((list) => (Array.isArray(list) ? list : []));
  if (approved !== false && passed !== false && texts.length === 0) return undefined;
  const problems = texts.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : [one]));
  return problems.flatMap((one) => (typeof one === 'string' ? [literal(one)] : []));
}

const NO_WORK =
  /no commit was made|nothing was changed|not committed|no file was changed|does not exist|was not read|document|heading|only .* may change|was handed over/;

function wordsOf(trouble: string): RegExp[] {
  if (trouble === SLOW) return [/stall|tool|silent/];
  if (trouble.startsWith('simulated: ')) return [literal(trouble)];
  if (trouble.startsWith('ended by the ')) return [/stall|tool|silent|lost|cut short|cancel|reboot/];
  return [NO_WORK];
}

function literal(text: string): RegExp {
  return new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
}
