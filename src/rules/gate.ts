import { renderPrompt, type ChangedPrompts } from '../prompts/render.ts';
import type { Board, TaskState } from '../model/plan/board.ts';
import { protectedCriteria } from '../model/plan/checker.ts';
import {
  criterionLabel,
  isUnchecked,
  JUDGEMENT,
  judgementAnswerSchema,
  verdictsIn,
  type Gate,
  type GateFacts,
  type RecordedVerdict,
  type Verdict,
} from '../model/plan/gate.ts';
import { isForJudge, unshownBy, type Judged } from './judge-evidence.ts';
import { baselineQuestion } from './baseline.ts';
import type { TaskEnded } from '../model/plan/event.ts';
import type { NewTask } from '../model/plan/task.ts';

type Criteria = Board['facts']['objective']['criteria'];
type Verdicts = Pick<Gate, 'judgement' | 'recorded'>;
type GivenVerdict = { readonly by: string | null; readonly verdict: Verdict };

/** Why the run may not end yet, one text for each problem; empty if there is none. */
export function problemsOf(facts: GateFacts, gate: Verdicts, criteria: Criteria): string[] {
  const failed = facts.commands
    .filter((one) => !one.passed && !isUnchecked(one))
    .map(({ purpose, output }) => `${purpose}: ${output}`);
  const unmet = criteria.flatMap((one, index) => {
    const said = isForJudge(one) ? verdictOn(index, facts, gate) : undefined;
    return said?.verdict.met === false
      ? [`criterion “${one.text}” is not met, says ${said.by ?? 'its judge'}: ${said.verdict.why}`]
      : [];
  });
  const wrong = protectedCriteria(facts.checkers).flatMap(({ text }, index) => {
    const said = wordOn(criteria.length + index, facts, gate);
    return said?.verdict.met === false ? [`${text}: no, says ${said.by ?? 'its judge'}: ${said.verdict.why}`] : [];
  });
  return [...failed, ...unmet, ...wrong];
}

/** The verdict on a changed path that is protected. Such a path may be gone, so it names no line. */
export function wordOn(number: number, { head }: Pick<GateFacts, 'head'>, gate: Verdicts): GivenVerdict | undefined {
  const given = verdictsAt(head, gate).filter(({ verdict }) => verdict.criterion === number);
  return given.find(({ verdict }) => !verdict.met) ?? given[0];
}

/** All verdicts on this commit. */
export function verdictsAt(head: string | null, { recorded, judgement }: Verdicts): readonly GivenVerdict[] {
  const own = judgement?.commit === head ? judgement : null;
  return [
    ...recorded.filter(({ commit }) => commit === head),
    ...(own?.verdicts ?? []).map((verdict) => ({ by: own?.by ?? null, verdict })),
  ];
}

/** The verdict on a criterion that counts for these facts: one judge who misses something outweighs the others. */
export function verdictOn(
  criterion: number,
  { head, looked }: Pick<GateFacts, 'head' | 'looked'>,
  gate: Verdicts,
): GivenVerdict | undefined {
  const given = verdictsAt(head, gate).filter(({ verdict }) => verdict.criterion === criterion);
  return (
    given.find(({ verdict }) => !verdict.met) ??
    given.find(({ by, verdict }) => looked !== undefined && unshownBy(by, verdict, looked) === undefined)
  );
}

/** The judges of this commit, with what each says. */
export function judgesAt(head: string, { recorded, judgement }: Verdicts): Judged[] {
  const said = [
    ...recorded.filter(({ commit }) => commit === head),
    ...(judgement?.commit === head && judgement.by !== null
      ? judgement.verdicts.map((verdict) => ({ ...judgement, by: judgement.by ?? '', verdict }))
      : []),
  ];
  return [...Map.groupBy(said, ({ task, by }) => JSON.stringify([task, by])).values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined) return [];
    return [{ task: first.task, by: first.by, commit: head, verdicts: all.map(({ verdict }) => verdict) }];
  });
}

/** The numbers of the criteria without a command that still have to be judged at this head. */
export function leftToJudge(facts: GateFacts, gate: Verdicts, criteria: Criteria): number[] {
  // Its judge is asked once. What it left open stays open.
  if (gate.judgement !== null && gate.judgement.commit === facts.head) return [];
  const open = criteria.flatMap((one, index) =>
    isForJudge(one) && verdictOn(index, facts, gate) === undefined ? [index] : [],
  );
  // Its reviewer may have spoken of it already.
  const unspoken = protectedCriteria(facts.checkers).flatMap(({ change }, index) =>
    change.accepted === undefined ? [criteria.length + index] : [],
  );
  return [...open, ...unspoken];
}

/** The recorded verdicts with one more. It replaces what the same judge or task said about the criterion before. */
export function withVerdict(
  recorded: readonly RecordedVerdict[],
  one: RecordedVerdict,
  authors: ReadonlySet<string>,
): readonly RecordedVerdict[] {
  const others = recorded.filter(
    ({ task, by, commit, verdict }) =>
      commit === one.commit && (verdict.criterion !== one.verdict.criterion || (task !== one.task && by !== one.by)),
  );
  // Authors cannot confirm their own work, but they may say that it is not enough.
  return one.verdict.met && authors.has(one.by) ? others : [...others, one];
}

/** A member who wrote none of the delivered work, and is not one of `tried`; undefined if there is none. */
export function pickJudge(
  { facts, tasks }: Pick<Board, 'facts' | 'tasks'>,
  tried: readonly string[] = [],
): Board['facts']['roster'][number] | undefined {
  const authors = authorsOf([...tasks.values()]);
  const { judges, roster } = facts;
  return judges
    .flatMap((role) => roster.filter((member) => member.role === role))
    .find(({ name }) => !authors.has(name) && !tried.includes(name));
}

/** Who is asked in place of a judge whose task failed without a verdict; undefined: no one is. */
export function judgeInstead(
  board: Pick<Board, 'facts' | 'tasks' | 'gate'>,
  { task, work }: TaskState,
  [end]: readonly TaskEnded[],
): { readonly agent: string; readonly why: string } | undefined {
  const { author, replaced = [] } = work;
  if (board.gate.judge !== task.id || end?.type !== 'task-failed' || end.cause === 'cancelled') return undefined;
  if (author.thread === null) return undefined;
  const other = pickJudge(board, [author.thread.agent, ...replaced.map(({ agent }) => agent)]);
  return other === undefined ? undefined : { agent: other.name, why: end.why };
}

/** A role that may review a foreign commit; undefined if no member has such a role. */
export function reviewingRole({ facts }: Pick<Board, 'facts'>): string | undefined {
  return facts.judges.find((role) => facts.roster.some((member) => member.role === role));
}

export function authorsOf(tasks: readonly TaskState[]): ReadonlySet<string> {
  return new Set(tasks.flatMap(({ task, work }) => (task.workspace === 'own' ? work.authors : [])));
}

/** `left`: the numbers of the criteria to judge. `changes`: criteria of the engine, whose numbers follow those of the objective. */
export function judgeTask(
  id: string,
  judge: { name: string; role: string },
  criteria: Criteria,
  left: readonly number[],
  { changes = [], prompts = {} }: { readonly changes?: readonly string[]; readonly prompts?: ChangedPrompts } = {},
): NewTask {
  const list = left.map(
    (index) => `${criterionLabel(index)}: ${criteria[index]?.text ?? changes[index - criteria.length] ?? ''}`,
  );
  const text = renderPrompt('judge/first', { criteria: list }, prompts);
  return {
    id,
    title: 'Judge the criteria that have no command',
    role: judge.role,
    agent: judge.name,
    kind: 'work',
    needs: [],
    brief: { text },
    workspace: { read: 'run' },
    session: 'new',
    output: { schema: JUDGEMENT, repairs: 1 },
    requires: [],
    integrate: false,
    builds: true,
    owner: 'engine',
  };
}

/** A task of the judge. If it fails, the run does not fail: its criteria are reported as not checked. */
export function isJudge({ owner, output }: NewTask): boolean {
  return owner === 'engine' && output?.schema === JUDGEMENT;
}

/** The gate after an event of its judge's task. If the judge gives no answer, its criteria stay unjudged at this head. */
export function afterJudge(
  gate: Gate,
  { task, work }: TaskState,
  news: readonly TaskEnded[],
  authors: ReadonlySet<string>,
): Gate {
  const commit = gate.facts?.head ?? null;
  if (gate.judge !== task.id || commit === null) return gate;
  const [end] = news;
  if (end === undefined) return gate;
  const by = work.author.thread?.agent ?? null;
  // A stand-in for the judge may have written some of the work.
  const counts = end.type === 'task-done' && by !== null && !authors.has(by);
  const verdicts = counts ? verdictsIn(judgementAnswerSchema.safeParse(end.output).data?.verdicts ?? []) : [];
  return { ...gate, at: 'checking', judge: null, judgement: { task: task.id, commit, by, verdicts } };
}

/** Whether the engine has to check the run branch now. */
export function isGateDue(
  board: Pick<Board, 'gate' | 'branch' | 'finished' | 'tasks' | 'baseline' | 'questions'>,
): boolean {
  const { gate, branch, finished, tasks } = board;
  if (gate.at !== 'checking' || finished !== null || tasks.open.length > 0) return false;
  return !isBranchBlocked(branch) && baselineQuestion(board) === undefined;
}

/** Whether a question about the run branch is open. Until its answer nothing is merged, and the run does not end. */
export function isBranchBlocked({ foreign, checkedOut }: Board['branch']): boolean {
  return foreign !== null || checkedOut !== null;
}

/** Whether the operator has decided what to do with a run branch that was moved. */
export function isRestoreDue({
  branch: { foreign, checkedOut },
  finished,
}: Pick<Board, 'branch' | 'finished'>): boolean {
  return finished === null && checkedOut === null && foreign !== null && foreign.way !== null;
}
