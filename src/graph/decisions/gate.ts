import type { Board, TaskState } from '../../model/plan/board.ts';
import {
  JUDGEMENT,
  judgementAnswerSchema,
  type Gate,
  type GateFacts,
  type Judgement,
  type Verdict,
} from '../../model/plan/gate.ts';
import type { TaskEnded } from '../../model/plan/event.ts';
import type { NewTask } from '../../model/plan/task.ts';

type Criteria = Board['facts']['objective']['criteria'];

/** Why the run may not end yet, one text for each problem; empty if there is none. */
export function problemsOf(facts: GateFacts, judgement: Judgement | null, criteria: Criteria): string[] {
  const failed = facts.commands.filter(({ passed }) => !passed).map(({ purpose, output }) => `${purpose}: ${output}`);
  const unmet = criteria.flatMap((one, index) => {
    const verdict = isForJudge(one) ? verdictOn(index, facts, judgement) : undefined;
    return verdict?.met === false
      ? [`criterion “${one.text}” is not met, says ${judgement?.by ?? 'its judge'}: ${verdict.why}`]
      : [];
  });
  return [...failed, ...unmet];
}

/** It has no command, not even a proposed one. */
function isForJudge({ command, proposed }: Criteria[number]): boolean {
  return command === undefined && proposed === undefined;
}

/** The judge's verdict on a criterion, if it counts for these facts: "met" must name an existing file and a line. */
export function verdictOn(
  criterion: number,
  { head, files }: Pick<GateFacts, 'head' | 'files'>,
  judgement: Judgement | null,
): Verdict | undefined {
  if (judgement === null || judgement.commit !== head) return undefined;
  const verdict = judgement.verdicts.find((one) => one.criterion === criterion);
  if (verdict === undefined || !verdict.met) return verdict;
  const isShown = verdict.file !== null && verdict.line !== null && verdict.line > 0 && files.includes(verdict.file);
  return isShown ? verdict : undefined;
}

/** Whether the criteria without a command still have to be judged at this head. */
export function isToBeJudged({ head }: GateFacts, judgement: Judgement | null, criteria: Criteria): boolean {
  return judgement?.commit !== head && criteria.some(isForJudge);
}

/** A member who wrote none of the delivered work; undefined if there is none. */
export function pickJudge({
  facts,
  tasks,
}: Pick<Board, 'facts' | 'tasks'>): Board['facts']['roster'][number] | undefined {
  const authors = authorsOf([...tasks.values()]);
  const { judges, roster } = facts;
  return judges
    .flatMap((role) => roster.filter((member) => member.role === role))
    .find(({ name }) => !authors.has(name));
}

/** A role that may review a foreign commit; undefined if no member has such a role. */
export function reviewingRole({ facts }: Pick<Board, 'facts'>): string | undefined {
  return facts.judges.find((role) => facts.roster.some((member) => member.role === role));
}

export function authorsOf(tasks: readonly TaskState[]): ReadonlySet<string> {
  return new Set(tasks.flatMap(({ task, work }) => (task.workspace === 'own' ? work.authors : [])));
}

export function judgeTask(id: string, judge: { name: string; role: string }, criteria: Criteria): NewTask {
  const list = criteria.flatMap((one, index) => (isForJudge(one) ? [`${index}. ${one.text}`] : []));
  const text = [
    'All work is delivered, and the current folder shows it. No command checks these success criteria, so judge them:',
    list.join('\n'),
    'Read the files and run what you need. Change nothing.',
    'Answer with `verdicts`, one for each criterion:',
    [
      '- `criterion`: its number above',
      '- `met`: true only if you saw it in the files',
      '- `file` and `line`: where it shows; the path starts at the root of the repository. null only if it is not met',
      '- `why`: one sentence; if it is not met, what is missing',
    ].join('\n'),
  ].join('\n\n');
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
  const verdicts = counts ? (judgementAnswerSchema.safeParse(end.output).data?.verdicts ?? []) : [];
  return { ...gate, at: 'checking', judge: null, judgement: { commit, by, verdicts } };
}

/** Whether the engine has to check the run branch now. */
export function isGateDue({
  gate,
  branch,
  finished,
  tasks,
}: Pick<Board, 'gate' | 'branch' | 'finished' | 'tasks'>): boolean {
  return gate.at === 'checking' && finished === null && !isBranchBlocked(branch) && tasks.open.length === 0;
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
