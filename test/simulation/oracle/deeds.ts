import { asObject, isJsonObject, type Json } from '../../../src/text/json.ts';
import { documentPath, documentText } from '../../support/objective-documents.ts';
import { draw, drawOf } from '../world/draw.ts';
import { conflictIn, type Cue } from '../world/simulated-agents.ts';
import type { Deed } from '../world/simulated-repository.ts';
import type { Troupe } from './troupe.ts';
import type { FileSeen } from './record.ts';

/** What a turn does in its folder, and what of it has to reach the branch. */
export interface Doing {
  readonly deed: Deed | undefined;
  /** undefined: it wrote nothing that counts. */
  readonly wrote: FileSeen | undefined;
  /** A file that it had no business with. */
  readonly stray?: FileSeen;
  /** Why the run may fail of it; absent: it does what it is asked. */
  readonly trouble?: string;
}

const NOTHING: Doing = { deed: undefined, wrote: undefined };

/** `document`: the path that its task was given for its document; undefined: it writes none. */
export function doingOf(troupe: Troupe, cue: Cue, document: string | undefined): Doing {
  const { seed, weather } = troupe;
  const { task, number } = cue;
  if (draw(seed, 'lies', task, number) < weather.lies) return { ...NOTHING, trouble: 'it did nothing' };
  const right = rightDeed(troupe, cue, document);
  const isTalk = task.startsWith('answer-');
  if (isTalk && draw(seed, 'false claim', task, number) < weather.falseClaims) {
    return { ...NOTHING, trouble: 'it answered, and wrote nothing' };
  }
  const [path, text] = Object.entries(right.writes)[0] ?? [];
  const wrote = path === undefined || text === undefined ? undefined : { path, text };
  if (document !== undefined && draw(seed, 'false document', task, number) < weather.falseDocuments) {
    return falseDocument(troupe, cue, right, { path: document, text: right.writes[document] ?? '' });
  }
  if (task.endsWith('-commit') && (right.removes ?? []).length > 0) {
    return { deed: right, wrote, trouble: 'it changed what it was to commit' };
  }
  return { deed: right, wrote, ...(right.commits ? {} : { trouble: 'it left its work uncommitted' }) };
}

/** A file of its own, whose text says which turn wrote it; now and then another's is deleted. */
function rightDeed(
  { seed, weather, stage, definition }: Troupe,
  { request, task, number }: Cue,
  document?: string,
): Deed {
  const path =
    document ?? (/^(?:improve-\d+|answer-.*)$/.test(task) ? 'docs/design.md' : `${task.replace(/-build$/, '')}.txt`);
  const by = `by ${request.turnId}`;
  const files = [...(stage.repository.git.filesIn(request.workspace.path)?.keys() ?? [])];
  const others = files.filter((name) => name.endsWith('.txt') && name !== path);
  const removes = !weather.calm && draw(seed, 'removes', task, number) < 0.05 ? others.slice(-1) : [];
  const text = document === undefined ? `${task} ${by}` : textOf(definition.options, task, document, by);
  return {
    // Who only commits what others did writes nothing.
    writes: task.endsWith('-commit') ? {} : { [path]: text },
    removes: document === undefined ? removes : [],
    merges: conflictIn(request.prompt),
    commits: draw(seed, 'commits', task, number) < 0.9 || weather.calm,
  };
}

/** With every heading that its stage asks for. */
function textOf(options: Json, task: string, path: string, by: string): string {
  if (documentPath('simulated', task) === path) return documentText(task, by);
  const { list } = asObject(options);
  const stages = isJsonObject(list) && Array.isArray(list['stages']) ? list['stages'].map(asObject) : [];
  const makes = stages
    .map((one) => asObject(one['makes']))
    .find(({ document }) => path.endsWith(`/${String(document)}`));
  const headings = Array.isArray(makes?.['headings']) ? makes['headings'].map(String) : [];
  return [`# ${task}`, `It was written ${by}.`, ...headings.map((one) => `## ${one}\n\n${one} ${by}.`), ''].join(
    '\n\n',
  );
}

const FALSE_WAYS = ['nothing', 'empty', 'headings', 'old', 'other', 'beside'] as const;

/** It says that its document is written: there is nothing, or an empty, an old or another one, or one with more beside it. */
function falseDocument(
  { seed, stage }: Troupe,
  { request, task, number }: Cue,
  right: Deed,
  { path, text }: FileSeen,
): Doing {
  const kind = drawOf(FALSE_WAYS, seed, 'how false', task, number);
  const trouble = `its document is false: ${kind}`;
  const write = (writes: Readonly<Record<string, string>>): Doing => ({
    deed: { ...right, writes },
    wrote: undefined,
    trouble,
  });
  const before = stage.repository.git.filesIn(request.workspace.path)?.get(path);
  const folder = path.slice(0, path.lastIndexOf('/'));
  switch (kind) {
    case 'nothing':
      return { ...NOTHING, trouble };
    case 'empty':
      return write({ [path]: '' });
    case 'headings':
      return write({
        [path]: text
          .split('\n')
          .filter((line) => line.startsWith('#'))
          .join('\n\n'),
      });
    case 'old': {
      const { git } = stage.repository;
      const head = git.headOf(request.workspace.path);
      const committed = head === undefined ? undefined : git.filesAt(head).get(path);
      // What an earlier turn of its own wrote and left uncommitted is no old document yet.
      if (before !== undefined && before !== committed) {
        const deed = { ...right, writes: { [path]: before } };
        return {
          deed,
          wrote: { path, text: before },
          ...(right.commits ? {} : { trouble: 'it left its work uncommitted' }),
        };
      }
      return write({ [path]: before ?? '' });
    }
    case 'other':
      return write({ [`${folder}/other-${task}.md`]: text });
    case 'beside': {
      const stray = { path: `beside-${task}.txt`, text: `beside by ${request.turnId}` };
      return {
        deed: { ...right, writes: { ...right.writes, [stray.path]: stray.text } },
        wrote: { path, text },
        stray,
        trouble,
      };
    }
  }
}
