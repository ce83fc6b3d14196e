import { writeAgainText } from '../../model/folder-written.ts';
import type { RunStatus } from '../../view/status.ts';
import { spanText } from '../../text/duration.ts';
import { ageOf, localTime } from '../../text/time.ts';
import type { AskedPlan } from '../../model/plan/asked-question.ts';
import { planDifferenceLines } from './plan-difference.ts';
import { teamLines } from './team-lines.ts';
import { PLAIN } from './style.ts';
import { repositoryLines } from './end-lines.ts';
import { failureLines, rejectionLines } from './failure-lines.ts';
import { currentStage, placeText, roundText, STAGE_SIGNS, type ShownStage } from '../../model/shown-stage.ts';
import { plainLine } from '../../text/plain-text.ts';
import { atLeastText, costText } from '../../model/amount.ts';
import type { Colour } from './screen.ts';
import { sharedLimitLines } from '../../view/shared-limits.ts';
import { capNotes, capUseText, type CapUse } from '../../view/cap-use.ts';

/** A task that has used less than this share of its limits gets no line. */
const NEAR = 0.5;

/** A title has no indent; a state comes first in its line. */
export const STATUS_COLOURS: readonly Colour[] = [
  [/^\S.*$/, 'bold'],
  [/^ {2}DONE\b/, 'green'],
  [/^ {2}(?:FAILED|CANCELLED)\b/, 'red'],
  [/^ {2}(?:done|met)(?= {2})/, 'green'],
  [/^ {2}(?:failed|not met)(?= {2})/, 'red'],
  [/^ {2}(?:live|reviewing|integrating)(?= {2})/, 'cyan'],
  [/^ {2}(?:not checked|cancelled)(?= {2})/, 'yellow'],
];

/** A run on one screen: state, tasks, what it waits for, `more` and the next command. Times are local. */
export function renderStatus(status: RunStatus, now: number, more: readonly string[] = []): string {
  const { sharedLimits } = status;
  const headline = plainLine(status.headline ?? '', 400);
  return [
    `${status.name}  ${status.outcome ?? status.phase}  ${plainLine(status.objective, 100)}`,
    ...(headline === '' ? [] : [`  ${headline}`]),
    `  ${progressOf(status)}`,
    ...deadlineLines(status, now),
    ...(status.parent === null ? [] : [`  a fork of ${status.parent.name} at event ${status.parent.seq}`]),
    ...folderLines(status),
    ...promptLines(status),
    ...sparseLines(status),
    ...(status.branch === null ? [] : [`  branch ${plainLine(status.branch, 60)}${fromText(status)}`]),
    ...section('repositories', repositoryLines(status.name, status.repositories ?? [])),
    ...stageLines(status, now),
    ...teamLines(status).flatMap(({ title, lines }) => section(title, lines)),
    ...section('tasks', taskLines(status)),
    ...section('not delivered', [
      ...failureLines(status.failures, headline),
      ...rejectionLines(status.rejections, headline),
    ]),
    ...section(
      'before the work',
      status.baseline.map((one) => plainLine(one, 400)),
    ),
    ...section('success criteria', criterionLines(status)),
    ...section('paused or switched', operatorLines(status)),
    ...section('not read yet', noteLines(status)),
    ...section('limits', limitLines(status)),
    ...section('limits of all runs', sharedLimits === undefined ? [] : sharedLimitLines(sharedLimits, now)),
    ...section('mail', mailLines(status, now)),
    ...section(
      'asks for permission',
      status.asks.map(
        ({ id, text, until }) => `${plainLine(id, 80)} (until ${localTime(until, now)}): ${plainLine(text, 400)}`,
      ),
    ),
    ...waitingLines(status, now),
    ...(more.length === 0 ? [] : ['', ...more.map((line) => `  ${line}`)]),
    ...nextLine(status),
  ].join('\n');
}

export function fromText({ from }: Pick<RunStatus, 'from'>): string {
  return from === undefined ? '' : `, begun from ${plainLine(from, 100)}`;
}

function progressOf({ elapsedSeconds, maxSeconds, turns, usage }: RunStatus): string {
  const { inputTokens, outputTokens, unknownTurns } = usage;
  return [
    `${spanText(elapsedSeconds * 1000)} of ${spanText(maxSeconds * 1000)}`,
    `${turns.started} turn${turns.started === 1 ? '' : 's'}${turns.live === 0 ? '' : ` (${turns.live} live)`}`,
    inputTokens === null
      ? 'tokens unknown'
      : `${atLeastText(inputTokens, unknownTurns)} tokens in, ${atLeastText(outputTokens ?? 0, unknownTurns)} out`,
    costText(usage),
  ].join(' · ');
}

function folderLines({ name, written }: RunStatus): string[] {
  return written.flatMap(({ sink, folder, problem }) => [
    `  ${sink} ${plainLine(folder, 300)}`,
    ...(problem === null ? [] : [`  its files are not complete: ${plainLine(problem, 300)}. ${writeAgainText(name)}`]),
  ]);
}

function promptLines({ prompts: { hash, changed } }: RunStatus): string[] {
  if (changed.length === 0) return [];
  return [`  prompts ${hash ?? 'unknown'}, changed: ${plainLine(changed.join(', '), 200)}`];
}

function sparseLines({ sparse }: RunStatus): string[] {
  if (sparse === undefined) return [];
  return [`  agents have only ${plainLine(sparse.join(', '), 200)} and the files at the top; checks have all (sparse)`];
}

function deadlineLines({ deadline, pastDeadline, phase }: RunStatus, now: number): string[] {
  if (deadline === null) return [];
  const passed = phase === 'finished' || now < deadline ? '' : ', passed: no turn starts after it';
  const said =
    pastDeadline === null ? passed : `; turns start after it, because ${plainLine(pastDeadline, 60)} says so`;
  return [`  deadline ${localTime(deadline, now)}${said}`];
}

/** Where the run is, and all of its stages. */
function stageLines({ stage: current, stages = [] }: RunStatus, now: number): string[] {
  const [known] = stages.flatMap((stage, index) =>
    stage.id === current ? [{ stage, place: index + 1, of: stages.length }] : [],
  );
  const at = known ?? currentStage(stages);
  if (at === undefined) return [];
  const shown = someOf(stages, ({ state }) => USUAL.has(state));
  const names = shown.rows.map(({ row: { id } }) => plainLine(id, 40));
  const width = Math.max(0, ...names.map(({ length }) => length));
  const stateWidth = Math.max(7, ...shown.rows.map(({ row: { state } }) => state.length));
  const lines = shown.rows.map(({ row: stage, place: nth }, index) => {
    const place = `${nth}/${stages.length}`.padStart(5);
    const facts = [roundText(stage), plainLine(stage.by.join(', '), 60), sinceText(stage, now)];
    const about = facts.filter((fact) => fact !== '').join(', ');
    const sign = `${STAGE_SIGNS[stage.state]} ${stage.state.padEnd(stateWidth)}`;
    return `${sign}  ${place}  ${(names[index] ?? '').padEnd(width)}  ${about}`.trimEnd();
  });
  return [`  stage ${plainLine(placeText(at), 60)}`, ...section('stages', [...lines, ...shown.more])];
}

/** Left out first when a list is too long. */
const USUAL: ReadonlySet<string> = new Set(['done', 'waiting', 'cancelled']);

const MOST_ROWS = 100;

/** Rows of a long list that people look for: first what is not `usual`, then the rest from the first, in their own order. */
function someOf<Row>(
  all: readonly Row[],
  usual: (row: Row) => boolean,
): { readonly rows: readonly { readonly row: Row; readonly place: number }[]; readonly more: readonly string[] } {
  const rows = all.map((row, index) => ({ row, place: index + 1 }));
  if (rows.length <= MOST_ROWS) return { rows, more: [] };
  const [rest, first] = [rows.filter(({ row }) => usual(row)), rows.filter(({ row }) => !usual(row))];
  const kept = [...first, ...rest].slice(0, MOST_ROWS).toSorted((one, other) => one.place - other.place);
  return { rows: kept, more: [`and ${rows.length - MOST_ROWS} more: \`squad status --json\` lists all`] };
}

/** `since 14:02 (3 min)` of a live stage, `took 12 min` of one that has ended. */
function sinceText({ state, startedAt, endedAt }: ShownStage, now: number): string {
  if (startedAt === undefined) return '';
  if (endedAt !== undefined) return `took ${ageOf(endedAt - startedAt)}`;
  return state !== 'live' ? '' : `since ${localTime(startedAt, now)} (${ageOf(now - startedAt)})`;
}

/** Without the tasks that were cancelled with another one: its failure counts them. */
function taskLines({ tasks, failures }: RunStatus): string[] {
  const folded = new Set(failures.flatMap(({ cancelled }) => cancelled));
  const shown = tasks.filter(({ id }) => !folded.has(id));
  const { rows, more } = someOf(shown, ({ status }) => status === 'done' || status === 'waiting');
  const width = Math.max(0, ...rows.map(({ row: { id } }) => id.length));
  const lines = rows.map(({ row: { id, title, status, round, attempts } }) => {
    const effort = `round ${round}, ${attempts} attempt${attempts === 1 ? '' : 's'}`;
    return `${status.padEnd(11)}  ${plainLine(id, 40).padEnd(width)}  ${effort.padEnd(20)}  ${plainLine(title, 80)}`;
  });
  return [...lines, ...more];
}

function criterionLines({ criteria }: RunStatus): string[] {
  return criteria.map(({ state, text, by, evidence }) => {
    const who = by === null || by === 'engine' ? '' : `${plainLine(by, 40)}: `;
    const why = evidence === null || state === 'met' ? '' : `  (${who}${plainLine(evidence, 120)})`;
    return `${state.replace('-', ' ').padEnd(11)}  ${plainLine(text, 120)}${why}`;
  });
}

function operatorLines({ held, switched }: RunStatus): string[] {
  const verbs = { pause: 'paused', drain: 'drained', stop: 'stopped' } as const;
  return [
    ...held.map(
      ({ scope, verb, by }) => `${plainLine(scope.replace('/', ' '), 60)} ${verbs[verb]} by ${plainLine(by, 60)}`,
    ),
    ...switched.map(({ scope, runtime, model }) =>
      plainLine(`${scope.replace('/', ' ')} on ${runtime}${model === null ? '' : ` (${model})`}`, 120),
    ),
  ];
}

/** Notes of people that wait for a turn. */
function noteLines({ notes = [] }: RunStatus): string[] {
  return notes.map(
    ({ agent, text, by, task }) =>
      `${plainLine(agent, 60)}${task === null ? '' : `, in ${plainLine(task, 60)}`}: ${plainLine(text, 200)} (by ${plainLine(by, 60)})`,
  );
}

/** Empty if no mail needs attention. */
function mailLines({ name, mail }: RunStatus, now: number): string[] {
  if (mail === null || (mail.unread === 0 && mail.unanswered === 0 && mail.dead === 0)) return [];
  const oldest = mail.oldestUnread === null ? '' : `, the oldest for ${ageOf(now - mail.oldestUnread)}`;
  const overdue = mail.overdue === 0 ? '' : `, ${mail.overdue} overdue`;
  const of = mail.members
    .filter(({ unread }) => unread > 0)
    .map(({ address, unread }) => `${plainLine(address, 40)} ${unread}`);
  return [
    `${mail.unread} unread${oldest}${of.length === 0 ? '' : `  (${of.join(', ')})`}`,
    `${mail.unanswered} without an answer${overdue}`,
    ...(mail.dead === 0 ? [] : [`${mail.dead} given up`]),
    `See: squad mail status --run ${name}`,
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

function waitingLines({ name, phase, waitingFor, accounts }: RunStatus, now: number): string[] {
  const others = accounts.filter(({ account }) => waitingFor?.for !== 'time' || waitingFor.account !== account);
  const parked = section(
    'usage limits',
    others.map((one) => accountLine(one, now)),
  );
  if (waitingFor === null) return parked;
  switch (waitingFor.for) {
    case 'answer':
      return section(
        'waits for an answer',
        waitingFor.questions.flatMap(({ id, text, options, plan }) => [
          `${plainLine(id, 80)}: ${plainLine(text, 400)}`,
          ...(options.length === 0 ? [] : [`  one of: ${options.map((option) => plainLine(option, 80)).join(' | ')}`]),
          ...(plan === undefined ? [] : planNotes(plan, name)),
        ]),
      );
    case 'time':
      return [
        ...section('waits', [
          waitingFor.account === null
            ? `until ${localTime(waitingFor.until, now)}: ${plainLine(waitingFor.why, 200)}`
            : `waiting for ${plainLine(waitingFor.account, 60)} until ${localTime(waitingFor.until, now)}`,
        ]),
        ...parked,
      ];
    case 'resume':
      return section(phase === 'queued' ? phase : 'stopped', [plainLine(waitingFor.why, 300)]);
    default:
      return waitingFor satisfies never;
  }
}

/** The changes of a plan that is asked about again, and where all of it is. */
function planNotes({ changes = [] }: AskedPlan, name: string): string[] {
  return [
    ...(changes.length === 0 ? [] : ['  changed since the plan before:']),
    ...planDifferenceLines(changes, PLAIN).map((line) => `    ${line}`),
    `  all of it: squad show plan --run ${name}`,
  ];
}

function nextLine({ name, phase, next: [first] }: RunStatus): string[] {
  if (phase === 'finished') return ['', `Next: ${first ?? `squad report ${name}`}`];
  return first === undefined ? [] : ['', `Next: ${first}`];
}

/** The use of each limit of the run, its agents and the tasks that come near theirs. */
function limitLines({ caps }: Pick<RunStatus, 'caps'>): string[] {
  const owners = [...new Set(caps.map(ownerOf))];
  return owners.flatMap((owner) => {
    const own = caps.filter((cap) => ownerOf(cap) === owner);
    const far = own.every(({ level, used, most }) => level === 'task' && used < most * NEAR);
    return far
      ? []
      : [
          `${owner}: ${own.map(capText).join(' · ')}`,
          ...own.flatMap((cap) => capNotes(cap).map((note) => `  ${plainLine(note, 200)}`)),
        ];
  });
}

function accountLine({ account, until, probing }: RunStatus['accounts'][number], now: number): string {
  const name = plainLine(account, 60);
  return probing ? `${name}: one turn tests whether the limit is over` : `${name} until ${localTime(until, now)}`;
}

function ownerOf({ level, name }: CapUse): string {
  return name === null ? level : `${level} ${plainLine(name, 60)}`;
}

function capText(use: CapUse): string {
  return `${capUseText(use)}${use.reached ? ' (reached)' : ''}`;
}
