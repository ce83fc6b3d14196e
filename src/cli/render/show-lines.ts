import { roundVerdict } from '../../model/plan/review.ts';
import { costText } from '../../model/amount.ts';
import type { RunStatus } from '../../view/status.ts';
import { reportLines, wordsOf } from '../../model/plan/author-report.ts';
import { judgeWords } from '../../view/judge-words.ts';
import type { TaskFacts } from '../../view/task-facts.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import { ageOf, localTime } from '../../text/time.ts';
import type { TurnRecord } from '../show/turn-record.ts';
import { failureLines } from './failure-lines.ts';
import { reasons } from '../../text/reasons.ts';
import { fromText } from './status-board.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';

interface Look {
  readonly now: number;
  readonly style: Style;
  readonly columns: number | undefined;
}

/** A run: what was asked for, its tasks and turns, the verdicts, and what was not delivered. `asked`: the objective's text. */
export function renderShownRun(
  status: RunStatus,
  facts: {
    readonly asked: string;
    /** Notes of people to agents, oldest first. */
    readonly notes: readonly PersonNote[];
    readonly tasks: readonly TaskFacts[];
    readonly turns: readonly TurnRecord[];
  },
  look: Look,
): string[] {
  const { style, now, columns } = look;
  const { name, objective, headline, turns, usage, startedAt, elapsedSeconds, branch } = status;
  const cost = costText(usage);
  const spent = `${ageOf(elapsedSeconds * 1000)} of engine time, ${turns.started} turns, ${cost}`;
  return [
    style('bold', `${name}  ${status.outcome ?? status.phase}  ${plainLine(objective, 100)}`),
    ...(headline === null ? [] : [`  ${plainLine(headline, 400)}`]),
    `  started ${localTime(startedAt, now)}, ${spent}`,
    ...(branch === null ? [] : [`  branch ${plainLine(branch, 100)}${fromText(status)}`]),
    ...section('Asked', textLines(facts.asked), style),
    ...section('Notes', facts.notes.map(noteLine), style),
    ...section('Criteria', criterionLines(status), style),
    ...section('Tasks', renderTable({ rows: facts.tasks.map(taskRow), columns: indented(columns) }), style),
    ...section(
      'Verdicts',
      facts.tasks.flatMap((task) => verdictLines(task, `${task.id} `)),
      style,
    ),
    ...section('Turns', renderTable({ rows: facts.turns.map(turnRow), columns: indented(columns) }), style),
    ...section('Not delivered', failureLines(status.failures, headline ?? ''), style),
    '',
    style('dim', `What an agent was asked, said and did: squad show <task or turn> --run ${name}`),
  ];
}

interface PersonNote {
  readonly agent: string;
  readonly text: string;
  readonly by: string;
  readonly isRead: boolean;
}

function noteLine({ agent, text, by, isRead }: PersonNote): string {
  const head = `${plainLine(by, 60)} to ${plainLine(agent, 60)}${isRead ? '' : ' (not read yet)'}`;
  return `${head}: ${plainLine(text, 600)}`;
}

/** A task: its brief and verdicts. Its turns follow. */
export function renderShownTask(task: TaskFacts, { name, failures }: RunStatus, style: Style): string[] {
  const { id, title, status, role, round, needs, authors } = task;
  const who = authors.length === 0 ? '' : `, by ${plainLine(authors.join(', '), 200)}`;
  const after = needs.length === 0 ? '' : `, needs ${needs.join(', ')}`;
  return [
    style('bold', `${id}  ${status}  ${plainLine(title, 100)}`),
    `  of ${name}, role ${role}, round ${round}${who}${after}`,
    ...section('Asked', textLines(task.brief), style),
    ...section(
      'May change',
      (task.paths ?? []).map((path) => plainLine(path, 400)),
      style,
    ),
    ...section('Verdicts', verdictLines(task, ''), style),
    ...section('Not delivered', failureLines(failures.filter((failure) => failure.task === id)), style),
  ];
}

function section(title: string, lines: readonly string[], style: Style): string[] {
  return lines.length === 0 ? [] : ['', style('bold', title), ...lines.map((line) => `  ${line}`.trimEnd())];
}

function indented(columns: number | undefined): number | undefined {
  return columns === undefined ? undefined : columns - 2;
}

function textLines(text: string): string[] {
  const plain = plainText(text).trim();
  return plain === '' ? [] : plain.split('\n');
}

function criterionLines({ criteria }: RunStatus): string[] {
  return criteria.map(({ state, text, by, evidence }) => {
    const who = by === null || by === 'engine' ? '' : `${by}: `;
    const why = evidence === null ? '' : `  (${plainLine(`${who}${evidence}`, 300)})`;
    return `${state.replace('-', ' ').padEnd(11)}  ${plainLine(text, 200)}${why}`;
  });
}

function taskRow({ id, status, round, authors, title }: TaskFacts): string[] {
  return [id, status, `round ${round}`, plainLine(authors.join(', '), 100), plainLine(title, 200)];
}

function turnRow({ attempt, agent, kind, result }: TurnRecord): string[] {
  const seconds = result === null ? '' : `${(result.durationMs / 1000).toFixed(1)} s`;
  const words = result?.failure?.message ?? (result === null ? '' : wordsOf(result));
  const said = kind === 'check' && result?.failure === undefined ? '' : plainLine(words.slice(0, 2_000), 200);
  return [attempt, plainLine(agent, 40), result?.outcome ?? 'live', seconds, said];
}

function verdictLines(task: TaskFacts, prefix: string): string[] {
  const { evidence, rounds, status, end, decidedBy, followUps, report } = task;
  const line = (what: string, text: string): string => `${prefix}${what}: ${plainLine(reasons(text), 600)}`;
  const reviews = rounds.flatMap((round) => [
    line(`round ${round.round} at ${round.commit.slice(0, 12)} ${roundVerdict(round)}`, judgeWords(round.feedback)),
    ...(round.settled ?? []).map(({ finding, as, why, by }) =>
      line(`round ${round.round} ${finding} ${as} (${plainLine(by, 40)})`, why),
    ),
  ]);
  const by = decidedBy === null ? '' : ` by ${plainLine(decidedBy, 64)}`;
  return [
    ...(evidence === null ? [] : [line('evidence', evidenceText(evidence))]),
    ...reviews,
    ...followUps.map((text) => line('for later', text)),
    ...(report === null ? [] : reportLines(report).map((text) => line('its author says', text))),
    ...(end === null || (end.as === 'done' && by === '')
      ? []
      : [line(`${status === 'blocked' ? status : end.as}${by}`, end.why)]),
  ];
}

function evidenceText({
  problem,
  commit,
  commits,
  changedPaths,
  uncommitted,
  commands,
  pr,
  prProblem,
  side,
  unread,
}: NonNullable<TaskFacts['evidence']>): string {
  const files = changedPaths.slice(0, 10).join(', ');
  const more = changedPaths.length > 10 ? ` and ${changedPaths.length - 10} more` : '';
  return [
    ...(problem === undefined ? [] : [problem]),
    commit === null ? 'no change' : `${commits} commit${commits === 1 ? '' : 's'} up to ${commit.slice(0, 12)}`,
    ...(files === '' ? [] : [`changed ${files}${more}`]),
    ...(uncommitted.length === 0 ? [] : [`not committed: ${uncommitted.slice(0, 10).join(', ')}`]),
    ...commands.map(({ run, passed }) => `\`${run}\` ${passed ? 'passed' : 'failed'}`),
    ...(pr === null ? [] : [pr.url]),
    ...(prProblem === undefined ? [] : [prProblem]),
    ...(unread === undefined ? [] : [`its files could not be read: ${unread}`]),
    ...(side?.kept ?? []).map(({ kind, name, ref }) => `not at HEAD: ${kind} ${name}, kept at ${ref}`),
    ...(side?.missed === undefined ? [] : [`not kept: ${side.missed}`]),
  ].join('; ');
}
