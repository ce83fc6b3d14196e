import type { BacklogEntry } from '../../../model/sprint/item.ts';
import { backlogOf, type Team } from '../../../model/sprint/team.ts';
import { counted } from '../../../text/counted.ts';
import { zonedTime } from '../../../text/zoned-time.ts';
import { code, heading, list, ownWords, paragraph, words, type Block, type Text } from '../document.ts';
import { renderMarkdown } from '../markdown.ts';
import { SHARED, type TeamFile } from './team-file.ts';

/** The items that are not done, and in a file of their own those that are. */
export function backlogFiles(team: Team, timezone: string): TeamFile[] {
  const all = backlogOf(team);
  const active = all.filter(({ state }) => state !== 'done' && state !== 'dropped');
  const done = all
    .filter(({ state }) => state === 'done')
    .toSorted((a, b) => b.updatedAt - a.updatedAt || b.createdAt - a.createdAt);
  const file = (name: string, title: string, items: readonly BacklogEntry[], none: string): TeamFile => ({
    path: `${SHARED}/${name}`,
    text: renderMarkdown({
      title: ownWords(title),
      about: [paragraph(ownWords(items.length === 0 ? none : `${counted(items.length, 'item')}.`))],
      sections: [],
    }).concat(items.length === 0 ? '' : `\n${itemsText(items, timezone)}`),
  });
  return [
    file('backlog.md', 'Backlog', active, 'No item waits.'),
    file('completed_backlog.md', 'Completed backlog', done, 'No item is done.'),
  ];
}

function itemsText(items: readonly BacklogEntry[], timezone: string): string {
  const blocks = items.flatMap((item) => itemBlocks(item, timezone));
  // The title of a document that has only these blocks is cut off.
  return renderMarkdown({ title: '', about: blocks, sections: [] }).slice('# \n\n'.length);
}

function itemBlocks(item: BacklogEntry, timezone: string): Block[] {
  const { id, title, kind, state, priority, source, createdAt, acceptance } = item;
  const rows: (readonly [key: string, value: Text | undefined])[] = [
    ['id', code(id)],
    ['state', ownWords(state)],
    ['kind', ownWords(kind)],
    ['priority', ownWords(String(priority))],
    ['source', source],
    ['created_at', ownWords(zonedTime(createdAt, timezone))],
    ['selected_in_sprint_id', item.selected_in_sprint_id],
    ['completed_in_sprint_id', item.completed_in_sprint_id],
    ['commit', item.commit === undefined ? undefined : code(item.commit.slice(0, 12))],
    ['blocked_reason', item.blocked_reason],
    ['blocked_by_role', item.blocked_by_role],
    ['required_inputs', listed(item.required_inputs)],
    ['recommended_next_step', item.recommended_next_step],
    ['inputs', listed(item.inputs)],
  ];
  return [
    heading(title),
    list([
      ...rows.flatMap(([key, value]) => (value === undefined ? [] : [words`${ownWords(key)}: ${value}`])),
      ...acceptance.map((text) => words`acceptance: ${text}`),
    ]),
  ];
}

function listed(texts: readonly string[] | undefined): string | undefined {
  return texts === undefined || texts.length === 0 ? undefined : texts.join('; ');
}
