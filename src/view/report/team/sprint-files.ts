import { eachOnce, referencesOf } from '../../../model/sprint/references.ts';
import type { Attachment } from '../../../model/sprint/request.ts';
import type { Sprint, SprintProgress, Todo } from '../../../model/sprint/sprint.ts';
import type { Team } from '../../../model/sprint/team.ts';
import { fileName } from '../../../text/file-name.ts';
import { plainJsonText, visibleText } from '../../../text/plain-text.ts';
import { zonedTime } from '../../../text/zoned-time.ts';
import {
  code,
  list,
  ownWords,
  paragraph,
  quote,
  section,
  tableSection,
  words,
  type Section,
  type Text,
} from '../document.ts';
import { renderMarkdown } from '../markdown.ts';
import { sprintReport, stateOf } from './sprint-report.ts';
import { sprintReportDocument } from './sprint-report-document.ts';
import { DOCUMENTS, NO_FACTS, type DocumentName, type SprintFacts, type SprintOf } from './team-facts.ts';
import { SHARED, type TeamFile } from './team-file.ts';

/** All files of one sprint but its entry in the history. `kickoff.md` follows from what never changes. */
export function sprintFiles(team: Team, { id, folder, facts }: SprintOf, timezone: string): TeamFile[] {
  const sprint = team.sprint.get(id);
  if (sprint === undefined) return [];
  const progress = team.progress.get(id);
  const root = `${SHARED}/sprints/${folder}`;
  const report = sprintReport(team, id, facts, timezone);
  const end = team.end.get(id);
  return [
    { path: `${root}/kickoff.md`, text: kickoffText(id, sprint, timezone) },
    ...allReferences(team, id).flatMap((one): TeamFile[] => {
      const bytes = facts.attachments.get(one.id);
      return bytes === undefined ? [] : [{ path: attachmentFile(folder, one), text: bytes }];
    }),
    ...DOCUMENTS.map((name) => ({ path: `${root}/${name}.md`, text: documentText(id, name, facts, progress) })),
    { path: `${root}/todo_backlog.md`, text: todosText(id, progress) },
    {
      path: `${root}/index.md`,
      text: indexText({ team, id, sprint, progress, state: stateOf(progress, end) }, timezone),
    },
    ...(report === undefined
      ? []
      : [
          { path: `${root}/report.md`, text: renderMarkdown(sprintReportDocument(report)) },
          { path: `${root}/report.json`, text: `${plainJsonText(report, 2)}\n` },
        ]),
  ];
}

/** The files that are in the folder of a sprint. */
export function allReferences(team: Team, id: string): Attachment[] {
  const { own, ofItems } = referencesOf(team, id);
  return eachOnce([...own, ...[...ofItems.values()].flat()]);
}

type NamedAttachment = Parameters<typeof attachmentName>[0];

export function attachmentFile(folder: string, attachment: NamedAttachment): string {
  return `${SHARED}/sprints/${folder}/attachments/${attachmentName(attachment)}`;
}

export function isKickoff(path: string): boolean {
  return path.startsWith(`${SHARED}/sprints/`) && path.endsWith('/kickoff.md');
}

/** Its id keeps apart two attachments of one name. */
function attachmentName({ id, name }: { readonly id: string; readonly name: string }): string {
  return `${fileName(id)}_${fileName(name)}`;
}

function kickoffText(id: string, { kickoff, base, at, until }: Sprint, timezone: string): string {
  const { milestone, text, items, attachments, by, trigger } = kickoff;
  return renderMarkdown({
    title: words`Kickoff of ${code(id)}`,
    about: [
      list([
        words`milestone: ${milestone}`,
        words`started by: ${by} (${ownWords(trigger)})`,
        words`started_at: ${ownWords(zonedTime(at, timezone))}`,
        words`wraps up: ${ownWords(until === null ? 'when its todos are done' : zonedTime(until, timezone))}`,
        words`begins with: ${code(base)}`,
        words`items: ${items.length === 0 ? ownWords('none named') : items.join(', ')}`,
      ]),
      paragraph(ownWords('This file never changes. The planner’s own words for it are in milestone.md.')),
    ],
    sections: [
      ...(text.trim() === '' ? [] : [{ title: 'Requirements', blocks: [quote(text, 64 * 1024)] }]),
      ...tables(
        'Attachments',
        ['file', 'bytes', 'SHA-256'],
        attachments.map((one): Text[] => [attachmentName(one), ownWords(String(one.bytes)), code(one.sha256)]),
      ),
    ],
  });
}

function tables(...of: Parameters<typeof tableSection>): Section[] {
  const made = tableSection(...of);
  return made === undefined ? [] : [made];
}

/** The document as its author wrote it, below a line that says whose it is: front matter in it is text. */
function documentText(
  id: string,
  name: DocumentName,
  facts: SprintFacts,
  progress: SprintProgress | undefined,
): string {
  const found = facts.documents[name];
  if (found === undefined) {
    const blocks = name === 'milestone' && progress?.title !== undefined ? [quote(progress.title)] : [];
    const none = paragraph(ownWords(facts === NO_FACTS ? 'Not checked.' : 'Not written yet.'));
    return renderMarkdown({ title: words`${ownWords(name)} of ${code(id)}`, about: [...blocks, none], sections: [] });
  }
  const { path, commit, text } = found;
  const from = code(path).text;
  return `> From \`${from}\` at \`${commit.slice(0, 12)}\` of the sprint ${code(id).text}.\n\n${visibleText(text).trim()}\n`;
}

function todosText(id: string, progress: SprintProgress | undefined): string {
  const todos = progress?.todos ?? [];
  return renderMarkdown({
    title: words`Todos of ${code(id)}`,
    about: todos.length === 0 ? [paragraph(ownWords('No todo is planned yet.'))] : [],
    sections: [
      ...tables('Todos', ['todo', 'state', 'title', 'item', 'commit'], todos.map(todoRow)),
      ...todos.flatMap(waitingSection),
    ],
  });
}

function todoRow({ id, state, title, item, commit }: Todo): Text[] {
  return [code(id), ownWords(state), title, code(item), commit === undefined ? '' : code(commit.slice(0, 12))];
}

function waitingSection({ id, why, required_inputs: inputs = [], reopened = {} }: Todo): Section[] {
  const made = section(code(id).text, [
    ...(why === undefined ? [] : [paragraph(words`Why: ${why}`)]),
    ...(inputs.length === 0 ? [] : [list(inputs.map((input) => words`required input: ${input}`))]),
    ...(Object.keys(reopened).length === 0
      ? []
      : [list(Object.entries(reopened).map(([category, times]) => words`reopened: ${category}, ${times} times`))]),
  ]);
  return made === undefined ? [] : [made];
}

interface Shown {
  readonly team: Team;
  readonly id: string;
  readonly sprint: Sprint;
  readonly progress: SprintProgress | undefined;
  readonly state: string;
}

function indexText({ team, id, sprint, progress, state }: Shown, timezone: string): string {
  const names = ['kickoff', ...DOCUMENTS, 'todo_backlog', 'report'];
  return renderMarkdown({
    title: words`Sprint ${code(id)}`,
    about: [
      list([
        words`state: ${ownWords(state)}`,
        words`milestone: ${progress?.title ?? sprint.kickoff.milestone}`,
        words`started_at: ${ownWords(zonedTime(sprint.at, timezone))}`,
        words`run: ${code(sprint.run)}`,
        words`todos: ${progress?.todos.length ?? 0}`,
      ]),
      list(names.map((name) => ownWords(`[${name}.md](${name}.md)`))),
    ],
    sections: tables('References', ['file', 'came with', 'bytes', 'SHA-256'], referenceRows(team, id)),
  });
}

function referenceRows(team: Team, id: string): Text[][] {
  const { own, ofItems } = referencesOf(team, id);
  const row = (one: Attachment, from: Text): Text[] => [
    ...[code(`attachments/${attachmentName(one)}`), from, ownWords(String(one.bytes)), code(one.sha256)],
  ];
  const later = [...ofItems].flatMap(([item, files]) => files.map((one) => row(one, code(item))));
  return [...own.map((one) => row(one, ownWords('the start of the sprint'))), ...later];
}
