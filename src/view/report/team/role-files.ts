import { z } from 'zod';
import type { Team } from '../../../model/sprint/team.ts';
import { fileName } from '../../../text/file-name.ts';
import { plainJsonText } from '../../../text/plain-text.ts';
import { zonedTime } from '../../../text/zoned-time.ts';
import {
  code,
  cut,
  heading,
  list,
  oneLine,
  ownWords,
  paragraph,
  quote,
  tableSection,
  words,
  type Block,
  type Text,
} from '../document.ts';
import { renderMarkdown } from '../markdown.ts';
import { stateOf } from './sprint-report.ts';
import { sprintTimeline } from './sprint-timeline.ts';
import { NO_FACTS, type SprintOf, type TeamFacts } from './team-facts.ts';
import type { RoleTurn, RunFacts } from '../../sprint/run-facts.ts';
import {
  ENGINE_ROLE,
  INBOX,
  INTERNAL_ROLES,
  jsonFile,
  LOGS,
  PUBLIC_ROLES,
  roleFileName,
  roleFolder,
  RUNTIME,
  SHARED,
  type TeamFile,
} from './team-file.ts';

/** Every role has its journal, with the results of the newest sprint, and its history, a line for each sprint. */
export function roleFiles(
  team: Team,
  newest: SprintOf | undefined,
  folders: ReadonlyMap<string, string>,
  { timezone, planning }: Pick<TeamFacts, 'timezone' | 'planning'>,
): TeamFile[] {
  const journal = (role: string): string =>
    role === 'sourcer' && planning !== undefined
      ? planningJournal(role, planning, timezone)
      : journalText(team, role, newest, timezone);
  return [...PUBLIC_ROLES, ...INTERNAL_ROLES].flatMap((role) => [
    { path: `${roleFolder(role)}/journal.md`, text: journal(role) },
    { path: `${roleFolder(role)}/history.md`, text: historyText(team, role, folders) },
  ]);
}

/** Files of the roles for one sprint, which stay: journals, logs, delegations and mail. */
export function sprintRoleFiles(
  team: Team,
  sprint: SprintOf,
  before: string | undefined,
  timezone: string,
): TeamFile[] {
  const { folder, facts } = sprint;
  const roles = [ENGINE_ROLE, ...new Set(facts.turns.map(({ role }) => role))];
  return [
    ...roles.map((role) => ({ path: rolePath(folder, role), text: journalText(team, role, sprint, timezone) })),
    ...roles
      .filter((role) => role !== ENGINE_ROLE)
      .map((role) => ({ path: archivedLog(role, folder), text: logText(team, role, sprint, before, timezone) })),
    ...relayFiles(facts, timezone),
  ];
}

/** The logs of the newest sprint, and who is in which session. */
export function currentRoleFiles(
  team: Team,
  newest: SprintOf | undefined,
  before: string | undefined,
  timezone: string,
): TeamFile[] {
  if (newest === undefined) return [];
  const roles = [...new Set(newest.facts.turns.map(({ role }) => role))];
  return roles.map((role) => ({
    path: `${LOGS}/${roleFileName(role)}.log`,
    text: logText(team, role, newest, before, timezone),
  }));
}

export function sessionFiles(
  newest: RunFacts | undefined,
  planning: RunFacts | undefined,
  timezone: string,
): TeamFile[] {
  const files = (facts: RunFacts | undefined, suffix: string): TeamFile[] =>
    (facts?.sessions ?? []).map(({ startedAt, lastUsedAt, role, agent, ...session }) => {
      const name = [
        roleFileName(role),
        ...(roleFileName(agent) === roleFileName(role) ? [] : [roleFileName(agent)]),
        suffix,
      ];
      return jsonFile(`${RUNTIME}/role_sessions/${name.filter((part) => part !== '').join('.')}`, {
        ...{ role, agent, ...session },
        started_at: zonedTime(startedAt, timezone),
        last_used_at: zonedTime(lastUsedAt, timezone),
      });
    });
  return [...files(newest, ''), ...files(planning, 'requests')];
}

/** A delegation and a message are in the inbox of whom they are for until they have ended, then in the archive. */
export function relayFiles({ turns, messages }: RunFacts, timezone: string): TeamFile[] {
  const place = (isDone: boolean, role: string, id: string): string =>
    `${isDone ? `${RUNTIME}/internal_relay/archive` : INBOX}/${roleFileName(role)}/${fileName(id)}`;
  return [
    ...turns.map(({ id, role, agent, task, title, startedAt, endedAt, outcome }) =>
      jsonFile(place(endedAt !== undefined, role, id), {
        ...{ relay_id: id, kind: 'delegate', from: ENGINE_ROLE, to: role, agent, task, title },
        sent_at: zonedTime(startedAt, timezone),
        ended_at: endedAt === undefined ? null : zonedTime(endedAt, timezone),
        outcome: outcome ?? null,
      }),
    ),
    ...messages.map((one) => {
      const { id, to, sentAt, isRead, says: _, ...message } = one;
      const sent = zonedTime(sentAt, timezone);
      return jsonFile(place(isRead, to, id), { relay_id: id, to, ...message, sent_at: sent });
    }),
  ];
}

function rolePath(folder: string, role: string): string {
  return `${SHARED}/sprints/${folder}/roles/${roleFileName(role)}.md`;
}

function archivedLog(role: string, folder: string): string {
  return `${LOGS}/archive/${roleFileName(role)}-${folder}.log`;
}

function journalText(team: Team, role: string, sprint: SprintOf | undefined, timezone: string): string {
  const title = words`Journal of ${ownWords(role)}`;
  if (sprint === undefined)
    return renderMarkdown({ title, about: [paragraph(ownWords('No sprint has begun yet.'))], sections: [] });
  const { id, facts } = sprint;
  const turns = facts.turns.filter((turn) => turn.role === role);
  const events = role === ENGINE_ROLE ? sprintTimeline(team, id, facts, timezone) : [];
  const none = facts === NO_FACTS && role !== ENGINE_ROLE ? 'Not checked.' : 'It has had no turn.';
  return renderMarkdown({
    title,
    about: [
      paragraph(words`Sprint ${code(id)}. Earlier ones: history.md.`),
      ...(events.length === 0 ? [] : [list(events.map(({ at, what }) => words`${ownWords(at)} ${what}`))]),
      ...turns.flatMap((turn) => turnBlocks(turn, timezone)),
      ...(turns.length + events.length === 0 ? [paragraph(ownWords(none))] : []),
    ],
    sections: [],
  });
}

/** The sourcer has turns only where findings are planned. */
function planningJournal(role: string, planning: RunFacts, timezone: string): string {
  const turns = planning.turns.filter((turn) => turn.role === role);
  return renderMarkdown({
    title: words`Journal of ${ownWords(role)}`,
    about: [
      paragraph(ownWords('The newest run that planned requests and findings.')),
      ...turns.flatMap((turn) => turnBlocks(turn, timezone)),
      ...(turns.length === 0 ? [paragraph(ownWords('It has had no turn.'))] : []),
    ],
    sections: [],
  });
}

const line = z.string().optional().catch(undefined);
const lines = z
  .array(z.unknown())
  .catch([])
  .transform((all) => all.map((one) => (typeof one === 'string' ? one : plainJsonText(one))));

/** The contract of a result, as far as an answer keeps it. */
const resultSchema = z.object({
  request_id: line,
  status: line,
  summary: line,
  insights: lines,
  artifacts: lines,
  proposals: z.unknown(),
  error: line,
});

function turnBlocks(turn: RoleTurn, timezone: string): Block[] {
  const { title, task, agent, startedAt, endedAt, outcome, answer, text = '' } = turn;
  const result = resultSchema.safeParse(answer).data;
  const rows: (readonly [key: string, value: Text | undefined])[] = [
    ['request_id', result?.request_id ?? code(task)],
    ['role', code(turn.role)],
    ['status', result?.status ?? ownWords(endedAt === undefined ? 'running' : (outcome ?? 'not checked'))],
    ['agent', agent],
    ['started_at', ownWords(zonedTime(startedAt, timezone))],
    ['ended_at', endedAt === undefined ? undefined : ownWords(zonedTime(endedAt, timezone))],
    ['summary', result?.summary === undefined ? undefined : cut(result.summary, 2000)],
    ['error', result?.error === undefined ? undefined : cut(result.error, 2000)],
  ];
  return [
    heading(title),
    list([
      ...rows.flatMap(([key, value]) => (value === undefined ? [] : [words`${ownWords(key)}: ${value}`])),
      ...(result?.insights ?? []).map((insight) => words`insight: ${cut(insight, 1000)}`),
      ...(result?.artifacts ?? []).map((artifact) => words`artifact: ${artifact}`),
    ]),
    ...(result?.proposals === undefined || result.proposals === null
      ? []
      : [paragraph(ownWords('proposals:')), quote(plainJsonText(result.proposals, 2), 8000)]),
    ...(result === undefined && text.trim() !== '' ? [quote(text)] : []),
  ];
}

function historyText(team: Team, role: string, folders: ReadonlyMap<string, string>): string {
  const up = '../'.repeat(roleFolder(role).split('/').length);
  const rows = [...team.sprint.keys()].toReversed().map((id): Text[] => {
    const folder = folders.get(id) ?? '';
    const { title, todos = [] } = team.progress.get(id) ?? {};
    return [
      ownWords(`[${code(id).text}](${up}${rolePath(folder, role)})`),
      ownWords(stateOf(team.progress.get(id), team.end.get(id))),
      title ?? team.sprint.get(id)?.kickoff.milestone ?? '',
      ownWords(String(todos.length)),
    ];
  });
  const made = tableSection('Sprints', ['its journal', 'state', 'milestone', 'todos'], rows);
  const none = paragraph(ownWords('No sprint has begun yet.'));
  return renderMarkdown({
    title: words`History of ${ownWords(role)}`,
    about:
      made === undefined ? [none] : [paragraph(ownWords('A role has a journal for each sprint that it took part in.'))],
    sections: made === undefined ? [] : [made],
  });
}

/** One line for each turn, below the marker of the session that began with the sprint. */
function logText(
  team: Team,
  role: string,
  { id, facts }: SprintOf,
  before: string | undefined,
  timezone: string,
): string {
  const time = (at: number): string => zonedTime(at, timezone);
  const archived = before === undefined ? 'none' : archivedLog(role, before);
  const name = roleFileName(role);
  const start = `[squad] service_start role=${name} started_at=${time(team.sprint.get(id)?.at ?? 0)} archived_log=${archived}`;
  const turns = facts.turns
    .filter((turn) => turn.role === role)
    .flatMap(({ id: turn, agent, task, title, startedAt, endedAt, outcome = 'not checked' }) => [
      `${time(startedAt)} turn_start id=${oneLine(turn)} agent=${oneLine(agent)} task=${oneLine(task)} title=${plainJsonText(oneLine(title))}`,
      ...(endedAt === undefined ? [] : [`${time(endedAt)} turn_end id=${oneLine(turn)} outcome=${outcome}`]),
    ]);
  return `${[start, ...turns].join('\n')}\n`;
}
