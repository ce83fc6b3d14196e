import {
  code,
  heading,
  list,
  listSection,
  ownWords,
  paragraph,
  quote,
  section,
  strong,
  tableSection,
  words,
  type Block,
  type ReportDocument,
  type Section,
  type Text,
} from '../document.ts';
import type { ReportChange } from './report-changes.ts';
import type { SprintReport } from './sprint-report.ts';

const NOT_CHECKED = ownWords('not checked');
const NOT_SAID = ownWords('not said');

/** The report without a form: as Markdown, on a terminal, in the history. */
export function sprintReportDocument(report: SprintReport): ReportDocument {
  return {
    title: words`Sprint ${code(report.sprint_id)}: ${report.headline}`,
    about: [...overviewBlocks(report), ...doubtBlocks(report.doubts)],
    sections: [
      changesSection(report.changes),
      listSection('Achievements', report.achievements),
      listSection('Issues', report.issues),
      commitsSection(report),
      contributionsSection(report),
      timelineSection(report),
      judgementSection(report),
    ].filter((one): one is Section => one !== undefined),
  };
}

function overviewBlocks({ overview, state, cost }: SprintReport): Block[] {
  const {
    milestone,
    refined,
    started_at: from,
    ended_at: to,
    started_by: by,
    reason,
    base,
    head,
    todos,
    summary,
  } = overview;
  const counts = Object.entries(todos).map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`);
  return [
    list([
      words`${strong('State')}: ${ownWords(state, state === 'completed' ? 'good' : state === 'failed' ? 'bad' : undefined)}`,
      ...(reason === null ? [] : [words`${strong('Reason')}: ${reason}`]),
      words`${strong('Milestone')}: ${milestone}`,
      ...(refined === null ? [] : [words`${strong('As the planner put it')}: ${refined}`]),
      words`${strong('Time')}: ${ownWords(from)} to ${ownWords(to ?? 'now: it is not over')}, started by ${by}`,
      words`${strong('Todos')}: ${ownWords(counts.join(', ') || 'none')}`,
      words`${strong('Line of work')}: from ${code(base.slice(0, 12))} to ${head === null ? ownWords('where it was') : code(head.slice(0, 12))}`,
      words`${strong('Cost')}: ${costText(cost)}`,
    ]),
    ...(summary === null ? [] : [quote(summary)]),
  ];
}

function costText({ usd, turns, turns_without_cost: unknown }: SprintReport['cost']): Text {
  if (turns === null) return NOT_CHECKED;
  const amount = usd === null ? 'not known' : `$${usd.toFixed(2)}`;
  const more = unknown === null || unknown === 0 ? '' : ` (of ${unknown} it is not known)`;
  return ownWords(`${amount} in ${turns} turns${more}`);
}

function doubtBlocks(doubts: readonly string[]): Block[] {
  return doubts.length === 0 ? [] : [paragraph(strong(ownWords('Not as the records have it:'))), list(doubts)];
}

function changesSection(changes: readonly ReportChange[]): Section | undefined {
  return section('Changes', changes.flatMap(changeBlocks));
}

function changeBlocks({ title, todo, item, commit, before, after, why, artifacts, doubts }: ReportChange): Block[] {
  const from = todo === null ? ownWords('no todo') : words`todo ${code(todo)} of item ${code(item ?? '')}`;
  return [
    heading(title),
    list([
      words`From: ${from}${commit === null ? ownWords(', no commit') : words`, commit ${code(commit.slice(0, 12))}`}`,
      words`Before: ${before ?? NOT_SAID}`,
      words`After: ${after ?? NOT_SAID}`,
      words`Why: ${why ?? NOT_SAID}`,
      words`Artifacts: ${artifacts.length === 0 ? ownWords('none') : artifacts.join(', ')}`,
      ...doubts.map((doubt) => words`${strong(ownWords('Not as the records have it', 'bad'))}: ${doubt}`),
    ]),
  ];
}

function commitsSection({ commits }: SprintReport): Section | undefined {
  const rows = commits.map(({ commit, todo, subject, paths }): Text[] => [
    code(commit.slice(0, 12)),
    todo === null ? ownWords('none') : code(todo),
    subject ?? NOT_CHECKED,
    paths === null ? NOT_CHECKED : paths.join(', '),
  ]);
  return tableSection('Commits', ['commit', 'todo', 'subject', 'paths'], rows);
}

function contributionsSection({ contributions, not_checked: unknown }: SprintReport): Section | undefined {
  if (unknown.includes('contributions')) return section('Contributions', [paragraph(NOT_CHECKED)]);
  const rows = contributions.map(({ role, agents, turns, minutes, usd, summary }): Text[] => [
    role,
    agents.join(', '),
    ownWords(String(turns)),
    ownWords(String(minutes)),
    ownWords(usd === null ? 'not known' : `$${usd.toFixed(2)}`),
    summary ?? '',
  ]);
  return tableSection('Contributions', ['role', 'agents', 'turns', 'minutes', 'cost', 'in the planner’s words'], rows);
}

function timelineSection({ timeline, not_checked: unknown }: SprintReport): Section | undefined {
  const items = timeline.map(({ at, what }) => words`${ownWords(at)} ${what}`);
  const left = unknown.includes('steps between start and end');
  return section('Timeline', [
    ...(items.length === 0 ? [] : [list(items)]),
    ...(left ? [paragraph(words`Steps between start and end: ${NOT_CHECKED}`)] : []),
  ]);
}

function judgementSection({ judgement }: SprintReport): Section | undefined {
  const { by_record: record, by_planner: planner } = judgement;
  return section('Judgement', [
    paragraph(words`By the records: ${record}`),
    ...(planner === null ? [] : [paragraph(ownWords('By the planner:')), quote(planner)]),
  ]);
}
