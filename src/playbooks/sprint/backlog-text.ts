import type { SprintOptions } from '../../model/sprint/options.ts';
import { attachmentIn, type Attachment } from '../../model/sprint/request.ts';
import { kickoffWords } from '../../model/sprint/sprint.ts';
import { plainLine } from '../../text/plain-text.ts';

/** More items would hide the urgent ones. */
const MOST_ITEMS = 200;

/** The backlog for a planner, the most urgent first: what it may write, with the version of each. */
export function backlogText({ backlog, files }: Pick<SprintOptions, 'backlog' | 'files'>): string {
  const open = backlog.filter(({ state }) => state !== 'done' && state !== 'dropped');
  const lines = open
    .slice(0, MOST_ITEMS)
    .flatMap((item) => [
      `- ${item.id} (version ${item.version}, ${item.state}, priority ${item.priority}, ${item.kind}): ${plainLine(item.title)}`,
      ...item.acceptance.map((one) => `  - done means: ${plainLine(one)}`),
      ...(item.blocked_reason === undefined ? [] : [`  - blocked: ${plainLine(item.blocked_reason)}`]),
      ...(item.required_inputs ?? []).map((one) => `  - waits for: ${plainLine(one)}`),
      ...(item.inputs ?? []).map((one) => `  - a person said: ${plainLine(one, 2_000)}`),
      ...fileLines(item.attachments ?? [], files).map((line) => `  ${line}`),
    ]);
  const left = open.length - MOST_ITEMS;
  return [...lines, ...(left > 0 ? [`and ${left} more items of lower priority`] : [])].join('\n');
}

/** The milestone and requirements of a sprint, in the words of its start. */
export function kickoffText(options: Pick<SprintOptions, 'kickoff' | 'files'>): string {
  const { kickoff, files } = options;
  return [kickoffWords(options), ...attachmentText(kickoff.attachments, files)].join('\n\n');
}

/** Names attachments with the paths at which agents read them; empty: there are none. */
export function attachmentText(attachments: readonly Attachment[], folder: string): string[] {
  if (attachments.length === 0) return [];
  return [['Attachments, which you can read and not change:', ...fileLines(attachments, folder)].join('\n')];
}

/** The attachments of a sprint for those who have read neither its start nor the backlog: those of an item stand below its title. */
export function referencesText({ kickoff, backlog, files }: SprintOptions): string[] {
  const ofItems = backlog.flatMap(({ title, attachments = [] }) =>
    attachments.length === 0
      ? []
      : [[`Attachments of “${plainLine(title, 200)}”:`, ...fileLines(attachments, files)].join('\n')],
  );
  return [...attachmentText(kickoff.attachments, files), ...ofItems];
}

function fileLines(attachments: readonly Attachment[], folder: string): string[] {
  return attachments.map((one) => `- ${one.name} (${one.bytes} bytes): ${attachmentIn(folder, one)}`);
}
