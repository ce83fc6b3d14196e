import { isTodoDone } from '../../../model/sprint/sprint.ts';
import { activeSprint, type Team } from '../../../model/sprint/team.ts';
import { counted } from '../../../text/counted.ts';
import { zonedTime } from '../../../text/zoned-time.ts';
import { code, list, ownWords, paragraph, tableSection, words, type Section, type Text } from '../document.ts';
import { renderMarkdown } from '../markdown.ts';
import { sprintReport, stateOf } from './sprint-report.ts';
import { sprintReportDocument } from './sprint-report-document.ts';
import type { SprintOf } from './team-facts.ts';
import { SHARED, type TeamFile } from './team-file.ts';

type Folders = ReadonlyMap<string, string>;

/** Between sprints it says so. */
export function currentSprintFile(team: Team, folders: Folders, timezone: string): TeamFile {
  const path = `${SHARED}/current_sprint.md`;
  const id = activeSprint(team);
  const sprint = id === undefined ? undefined : team.sprint.get(id);
  if (id === undefined || sprint === undefined) {
    const last = [...team.end].at(-1);
    const text = renderMarkdown({
      title: ownWords('Current sprint'),
      about: [
        paragraph(ownWords('No sprint is active.')),
        ...(last === undefined
          ? []
          : [
              paragraph(
                words`The last one was ${code(last[0])}: ${ownWords(last[1].outcome)}, ${ownWords(zonedTime(last[1].at, timezone))}.`,
              ),
            ]),
      ],
      sections: [],
    });
    return { path, text };
  }
  const progress = team.progress.get(id);
  const todos = progress?.todos ?? [];
  const rows = todos.map(({ id: todo, state, title }): Text[] => [code(todo), ownWords(state), title]);
  const made = tableSection('Todos', ['todo', 'state', 'title'], rows);
  const text = renderMarkdown({
    title: words`Current sprint: ${code(id)}`,
    about: [
      list([
        words`sprint_id: ${code(id)}`,
        words`state: ${ownWords(stateOf(progress, undefined))}`,
        words`phase: ${progress?.phase ?? ownWords('none yet')}`,
        words`milestone: ${progress?.title ?? sprint.kickoff.milestone}`,
        words`started_at: ${ownWords(zonedTime(sprint.at, timezone))}`,
        words`wraps up: ${ownWords(sprint.until === null ? 'when its todos are done' : zonedTime(sprint.until, timezone))}`,
        words`todos: ${todos.length}`,
        ownWords(`[its files](sprints/${folders.get(id) ?? ''}/index.md)`),
      ]),
    ],
    sections: made === undefined ? [] : [made],
  });
  return { path, text };
}

/** The newest first. */
export function historyIndexFile(team: Team, folders: Folders, timezone: string): TeamFile {
  const rows = [...team.end].toReversed().map(([id, { outcome, at, head }]): Text[] => {
    const folder = folders.get(id) ?? '';
    const { title, todos = [] } = team.progress.get(id) ?? {};
    const done = todos.filter(isTodoDone).length;
    return [
      ownWords(`[${code(id).text}](${folder}.md)`),
      ownWords(outcome),
      ownWords(zonedTime(at, timezone)),
      title ?? team.sprint.get(id)?.kickoff.milestone ?? '',
      ownWords(`${done} of ${counted(todos.length, 'todo')}`),
      head === null ? ownWords('where it was') : code(head.slice(0, 12)),
    ];
  });
  const head = ['sprint', 'outcome', 'ended_at', 'milestone', 'delivered', 'line of work'];
  const made = tableSection('Sprints', head, rows);
  const sections: Section[] = made === undefined ? [] : [made];
  const about = rows.length === 0 ? [paragraph(ownWords('No sprint has ended yet.'))] : [];
  return {
    path: `${SHARED}/sprint_history/index.md`,
    text: renderMarkdown({ title: ownWords('Sprints so far'), about, sections }),
  };
}

/** The entry of a sprint that has ended. It is the last of its files: once it is there, all of them are. */
export function historyFile(team: Team, { id, folder, facts }: SprintOf, timezone: string): TeamFile[] {
  const report = team.end.has(id) ? sprintReport(team, id, facts, timezone) : undefined;
  return report === undefined
    ? []
    : [{ path: historyPath(folder), text: renderMarkdown(sprintReportDocument(report)) }];
}

export function historyPath(folder: string): string {
  return `${SHARED}/sprint_history/${folder}.md`;
}
