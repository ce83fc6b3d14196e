import { attachmentIn, type Attachment } from './request.ts';
import type { Team } from './team.ts';

type Asked = Pick<Team, 'request' | 'requestPlan'>;

/** The files that came with the requests which an item is for, each once. */
export function attachmentsOfItem({ request, requestPlan }: Asked, item: string): Attachment[] {
  const asking = [...requestPlan].flatMap(([id, { items }]) => (items.includes(item) ? [id] : []));
  const reopening = [...request].flatMap(([id, { reopens }]) => (reopens === item ? [id] : []));
  const all = [...new Set([...asking, ...reopening])].flatMap((id) => request.get(id)?.attachments ?? []);
  return eachOnce(all);
}

/** The files that a sprint refers to: those of its start, and those of the items that it has selected. */
export function referencesOf(
  team: Asked & Pick<Team, 'sprint' | 'progress'>,
  sprint: string,
): { readonly own: readonly Attachment[]; readonly ofItems: ReadonlyMap<string, readonly Attachment[]> } {
  const own = team.sprint.get(sprint)?.kickoff.attachments ?? [];
  const items = new Set((team.progress.get(sprint)?.todos ?? []).map(({ item }) => item));
  const found = [...items].map((item) => [item, attachmentsOfItem(team, item)] as const);
  return { own, ofItems: new Map(found.filter(([, files]) => files.length > 0)) };
}

/** All of them, each once. */
export function eachOnce(files: readonly Attachment[]): Attachment[] {
  return [...new Map(files.map((one) => [attachmentIn('', one), one])).values()];
}
