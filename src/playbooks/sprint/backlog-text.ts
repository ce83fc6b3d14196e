import type { SprintOptions } from '../../model/sprint/options.ts';
import { attachmentIn, type Attachment } from '../../model/sprint/request.ts';
import { kickoffWords } from '../../model/sprint/sprint.ts';
import { plainLine } from '../../text/plain-text.ts';

/** More items would hide the urgent ones. */
const MOST_ITEMS = 200;

/** The backlog for a planner, the most urgent first: what it may write, with the version of each. */
export function backlogText({ backlog, files }: Pick<SprintOptions, 'backlog' | 'files'>): string {
  const open = backlog.filter(({ state }) => state !== 'done' && state !== 'dropped');
  const lines = open.slice(0, MOST_ITEMS).map((item) => {
    const { id, version, state, priority, kind, title, acceptance } = item;
    return [
      `- ${id} (version ${version}, ${state}, priority ${priority}, ${kind}): ${plainLine(title)}`,
      ...more(item, acceptance),
      ...fileLines(item.attachments ?? [], files).map((line) => `  ${line}`),
    ].join('\n');
  });
  const left = open.length - lines.length;
  return [...lines, ...(left > 0 ? [`and ${left} more items of lower priority`] : [])].join('\n');
}

function more(
  { blocked_reason: why, required_inputs: wants = [], inputs = [] }: SprintOptions['backlog'][number],
  acceptance: readonly string[],
): string[] {
  return [
    ...acceptance.map((one) => `  - done means: ${plainLine(one)}`),
    ...(why === undefined ? [] : [`  - blocked: ${plainLine(why)}`]),
    ...wants.map((one) => `  - waits for: ${plainLine(one)}`),
    ...inputs.map((one) => `  - a person said: ${plainLine(one, 2_000)}`),
  ];
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
