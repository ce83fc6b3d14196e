import type { TaskView, View } from '../../model/plan.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { cutBytes } from '../../text/cut-bytes.ts';
import { fenceTag } from '../../text/fence.ts';
import type { Json } from '../../text/json.ts';
import { plainJsonText, plainLine, visibleText } from '../../text/plain-text.ts';
import { stageTask } from '../stages/stage-records.ts';
import { WISDOM } from './answer.ts';
import { startMemory } from './start-json.ts';
import { knowledgeOf, sessionTask, type Knowledge, type Left } from './knowledge.ts';
import type { Session } from './session.ts';

const KIB = 1024;
/** Bytes of one text and of each part. A prompt with all of them is still short for every runtime. */
const MOST = {
  artifact: 16 * KIB,
  artifacts: 128 * KIB,
  short: 2 * KIB,
  memory: 16 * KIB,
  wisdom: 8 * KIB,
  findings: 4 * KIB,
  explorations: 16 * KIB,
} as const;

/** Others' results for a first prompt. Each text of others is bounded, and between tags that it cannot close. */
export function backgroundOf(session: Session, view: View, { id }: TaskView): string {
  const knowledge = knowledgeOf(session, view);
  const task = sessionTask(session, stageTask(view, id)?.stage ?? id);
  const joined = (blocks: readonly string[]): string => blocks.join('\n\n');
  const texts = {
    needed: joined(needed(knowledge, task?.needs ?? [])),
    memory: joined(memory(knowledge)),
    learnings: joined(wisdom(knowledge, 'learnings')),
    decisions: joined(wisdom(knowledge, 'decisions')),
    openIssues: joined(wisdom(knowledge, 'issues')),
    explorations: joined(explorations(knowledge)),
  };
  if (Object.values(texts).every((text) => text === '')) return '';
  return renderPrompt('session/background', texts, view.prompts);
}

function nameOf({ task, role }: Left): string {
  return `${plainLine(task.id, 60)} (${plainLine(role.name, 60)})`;
}

/** A text in a block of its own below a line of squad; says how much of it is left out. */
function quoted(line: string, text: string, most: number, wasCut = false): string {
  const cut = cutBytes(visibleText(text), most);
  const block = `${line}\n${fenceTag('left', cut.text)}`;
  return cut.isCut || wasCut ? `${block}\nThis is cut: only its first ${most / KIB} KiB are here.` : block;
}

/** Results of the tasks that this one needs. For a task done before this run, squad does not know which artifact is its own. */
function needed(knowledge: Knowledge, needs: readonly string[]): string[] {
  const { left, session } = knowledge;
  const bySlug = new Map(left.map((one) => [one.task.slug, one]));
  const blocks: Block[] = needs.flatMap((need) => {
    const one = bySlug.get(need);
    return one === undefined ? [] : blocksOf(one);
  });
  const done = new Set(session.completed);
  const earlier = needs.filter((need) => done.has(need) && !bySlug.has(need));
  return fitting([...blocks, ...(earlier.length === 0 ? [] : earlierArtifacts(session, earlier))], MOST.artifacts);
}

interface Block {
  readonly bytes: number;
  readonly text: () => string;
}

function blocksOf(left: Left): Block[] {
  const { summary, artifact } = left;
  const own: Block[] = [blockOf(`What ${nameOf(left)} says:`, summary, MOST.short)];
  if (artifact === null) return own;
  return [...own, blockOf(`The artifact \`${artifact.name}\` of ${nameOf(left)}:`, artifact.text, MOST.artifact)];
}

/** Those that are named after one of these tasks come first. */
function earlierArtifacts(session: Session, tasks: readonly string[]): Block[] {
  const ids = tasks.flatMap((slug) => sessionTask(session, slug)?.id.toLowerCase() ?? []);
  const isOf = ({ name }: { name: string }): boolean => ids.some((id) => name.toLowerCase().includes(id));
  const { own = [], others = [] } = Object.groupBy(session.start.artifacts, (one) => (isOf(one) ? 'own' : 'others'));
  return [...own, ...others].map(({ name, text, isCut }) =>
    blockOf(`The artifact \`${plainName(name)}\`, from before this run:`, text, MOST.artifact, isCut),
  );
}

function blockOf(line: string, text: string, most: number, wasCut = false): Block {
  return { bytes: Math.min(Buffer.byteLength(text), most), text: () => quoted(line, text, most, wasCut) };
}

/** Takes blocks from the first until the room is used; says how many are left out. */
function fitting(blocks: readonly Block[], most: number): string[] {
  let bytes = 0;
  const full = blocks.findIndex((block) => {
    bytes += block.bytes;
    return bytes > most;
  });
  const shown = full === -1 ? blocks : blocks.slice(0, full);
  return [...shown.map(({ text }) => text()), ...moreLine(blocks.length - shown.length)];
}

function moreLine(count: number): string[] {
  if (count === 0) return [];
  return [`${count} more ${count === 1 ? 'is' : 'are'} left out: there is no room.`];
}

/** A line of JSON for each key, which no value can break. */
function memory({ left, session: { start } }: Knowledge): string[] {
  const newest = new Map<string, Json>();
  const all = [
    ...Object.entries(startMemory(start)),
    ...left.flatMap((one) => one.memory.map((of) => [of.key, of.value] as const)),
  ];
  for (const [key, value] of all.reverse()) if (!newest.has(key)) newest.set(key, value);
  return inOneBlock(
    [...newest].map(
      ([key, value]) =>
        () =>
          `${plainJsonText(key)}: ${plainJsonText(value)}`,
    ),
    MOST.memory,
  );
}

/** The lines after the first of an entry are indented, so that none can look like one of another worker. */
function wisdom({ left, session: { start } }: Knowledge, kind: (typeof WISDOM)[number]): string[] {
  const entries = left.flatMap((one) =>
    one.wisdom[kind].map((text) => () => `${nameOf(one)}: ${text.replaceAll('\n', '\n  ')}`),
  );
  const earlier = start.wisdom[kind].trim();
  const end = earlier.slice(-MOST.findings).toWellFormed();
  const isCut = end.length < earlier.length;
  const title = `From before this run${isCut ? ', of which only the end is here' : ''}:`;
  return [...inOneBlock(entries.reverse(), MOST.wisdom), ...(earlier === '' ? [] : [quoted(title, end, MOST.wisdom)])];
}

function explorations({ left, session: { start } }: Knowledge): string[] {
  const own = left.flatMap((one) =>
    one.explorations.map(({ angle, keywords, findings }) => {
      const head = `${plainLine(angle)}\n${plainLine(keywords.join(', '), 500)}`;
      return blockOf(
        `Findings of ${nameOf(one)} from one angle, with keywords:`,
        `${head}\n\n${findings}`,
        MOST.findings,
      );
    }),
  );
  const earlier = start.explorations.files.map(({ name, text }) =>
    blockOf(`\`${plainName(name)}\`, from before this run:`, text, MOST.findings),
  );
  return fitting([...own.reverse(), ...earlier.reverse()], MOST.explorations);
}

function inOneBlock(lines: readonly (() => string)[], most: number): string[] {
  const shown: string[] = [];
  let room: number = most;
  for (const line of lines) {
    const { text, isCut } = cutBytes(line(), MOST.short);
    room -= Buffer.byteLength(text);
    if (room < 0) break;
    shown.push(isCut ? `${text} [cut]` : text);
  }
  return shown.length === 0 ? [] : [fenceTag('left', shown.join('\n')), ...moreLine(lines.length - shown.length)];
}

/** In backticks. */
function plainName(name: string): string {
  return plainLine(name, 120).replaceAll('`', '');
}
