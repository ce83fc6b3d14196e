import type { PlannedEntry } from '../../model/plan.ts';
import { criterionLabel } from '../../model/plan/gate.ts';
import type { Json } from '../../text/json.ts';
import { fenceTag } from '../../text/fence.ts';
import { answerOf, type JudgeFinding } from './stage-records.ts';
import { allNeedsOf, documentsIn, stageOf, titleOf } from './list-facts.ts';
import { isComplete, type Placed, type Scene, type StageProgress } from './stage-progress.ts';
import type { StagesOptions } from './stage-options.ts';
import type { Stage } from './stage-list.ts';

const PLACEHOLDER =
  /\{\{|\{(objective|criteria|constraints|context|documents|item(?::[a-z]+)?|of:[A-Za-z][A-Za-z0-9_-]*)\}/g;

/** The brief of a stage with its placeholders filled in, in one go: what is filled in is not looked at again. */
export function fillBrief(about: Filling): string {
  const { stage, entry } = about;
  const filled = stage.brief.replaceAll(PLACEHOLDER, (_, name?: string) =>
    name === undefined ? '{' : valueOf(name, about),
  );
  return entry === undefined || hasPlaceholder(stage, 'item') || namesField(stage)
    ? filled
    : `${filled}\n\n${itemText(entry, stage)}`;
}

export function hasPlaceholder({ brief }: Stage, name: string): boolean {
  return [...brief.matchAll(PLACEHOLDER)].some((match) => match[1] === name);
}

/** The fields of an entry that a brief may name. */
export const ITEM_FIELDS = ['id', 'title', 'brief', 'role', 'needs', 'paths', 'acceptance'] as const;

function namesField(stage: Stage): boolean {
  return ITEM_FIELDS.some((field) => hasPlaceholder(stage, `item:${field}`));
}

interface Filling {
  readonly scene: Scene;
  readonly options: StagesOptions;
  readonly stage: Stage;
  readonly entry: PlannedEntry | undefined;
  readonly progress: readonly StageProgress[];
}

function valueOf(name: string, about: Filling): string {
  const { scene, options, stage, entry, progress } = about;
  const { objective } = scene;
  const listed = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n');
  const known: Readonly<Record<string, () => string>> = {
    objective: () => objective.text.trim(),
    criteria: () => criteriaText(scene),
    constraints: () => listed(objective.constraints),
    context: () => objective.context.trim(),
    documents: () => listed(documentsFor(progress, options, stage)),
    item: () => (entry === undefined ? '' : itemText(entry, stage)),
    ...Object.fromEntries(ITEM_FIELDS.map((field) => [`item:${field}`, () => fieldText(field, entry?.[field])])),
  };
  const value = known[name];
  return value === undefined ? ofStage(name.slice('of:'.length), about) : value() || 'none';
}

/** Criteria are a list, and ids and paths a line. */
function fieldText(field: string, value: string | readonly string[] = ''): string {
  if (typeof value === 'string') return value;
  return field === 'acceptance' ? value.map((line) => `- ${line}`).join('\n') : value.join(', ');
}

/** By the labels with which a verdict names them. */
function criteriaText({ objective }: Scene): string {
  return objective.criteria
    .map(
      ({ text, command }, index) =>
        `${criterionLabel(index)}: ${text}${command === undefined ? '' : ` (squad runs \`${command}\`)`}`,
    )
    .join('\n');
}

/** The duties of a task that makes code say its paths, because an answer may add to them. */
function itemText({ title, brief, paths = [], acceptance }: PlannedEntry, { makes }: Stage): string {
  return [
    `${title}\n\n${brief}`,
    ...('code' in makes || paths.length === 0 ? [] : [`It is about ${paths.join(', ')}.`]),
    ...(acceptance.length === 0 ? [] : [`Done means:\n${acceptance.map((line) => `- ${line}`).join('\n')}`]),
  ].join('\n\n');
}

/** Characters. */
const MOST_OF_ANSWER = 20_000;

/** The text for `{of:STAGE}`: paths of documents, else the answer, else the titles of its tasks. */
function ofStage(id: string, { scene, options, progress, entry }: Filling): string {
  const stage = stageOf(options.list, id);
  if (stage === undefined) return `{of:${id}}`;
  const paths = documentsOf(stage, options);
  const answer = stage.each === undefined ? answerOf(scene, id) : ofEntries(id, scene, progress, entry);
  if (paths.length > 0) return paths.join(', ');
  if (answer !== undefined) return fenceTag('answer', JSON.stringify(answer, null, 2), MOST_OF_ANSWER);
  const tasks = progress.find((one) => one.stage.id === id)?.tasks ?? [];
  return tasks.map(({ state }) => `- ${state.title}`).join('\n') || titleOf(stage);
}

/** The answer of a stage with a task for each entry: for one of them, or for all by their ids. */
function ofEntries(
  id: string,
  scene: Scene,
  progress: readonly StageProgress[],
  entry: PlannedEntry | undefined,
): Json | undefined {
  if (entry !== undefined) return answerOf(scene, id, entry.id);
  const tasks = progress.find((one) => one.stage.id === id)?.tasks ?? [];
  const all = tasks.flatMap(({ entry: of }) => {
    const answer = of === undefined ? undefined : answerOf(scene, id, of);
    return of === undefined || answer === undefined ? [] : [[of, answer] as const];
  });
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

/** Documents of the stages that it needs, by path, without those that a stage removed since. */
export function documentsFor(progress: readonly StageProgress[], options: StagesOptions, { id }: Stage): string[] {
  const written = progress.filter(({ stage }) => documentsIn(stage.makes).length > 0 && stage.id !== id);
  if (written.length === 0) return [];
  const before = allNeedsOf(options.list, id);
  const removed = lastDone(progress.flatMap(({ stage, all }) => ('removes' in stage.makes ? all : [])));
  return written.flatMap((one) => {
    const isThere = before.has(one.stage.id) && isComplete(one) && lastDone(one.all) > removed;
    return isThere ? documentsOf(one.stage, options) : [];
  });
}

/** When the last of these was done; before all times: none was. */
function lastDone(tasks: readonly Placed[]): number {
  const times = tasks.flatMap(({ state }) => (state.status === 'done' ? [state.at.ended ?? 0] : []));
  return Math.max(Number.NEGATIVE_INFINITY, ...times);
}

/** The paths of the documents that it writes. */
export function documentsOf({ makes }: Stage, { folder }: StagesOptions): string[] {
  return documentsIn(makes).map((path) => `${folder}/${path}`);
}

/** One line for each finding, with what its judge suggests. */
export function findingLines(findings: readonly JudgeFinding[]): string[] {
  return findings.map(({ file, line, problem, suggestion }) => {
    const where = file === null ? '' : `${file}${line === null ? '' : `:${line}`}: `;
    return `${where}${problem}${suggestion === null || suggestion.trim() === '' ? '' : ` (suggestion: ${suggestion})`}`;
  });
}
