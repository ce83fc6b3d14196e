import { isJsonObject } from '../../text/json.ts';
import { pathText, type Finding, type Path } from '../../text/explain-issue.ts';
import { nearest } from '../../text/nearest.ts';
import { quote } from '../../text/problem.ts';
import { ITEM_FIELDS } from './stage-brief.ts';
import type { RoughStage } from './rough-list.ts';

const PLAIN = ['objective', 'criteria', 'constraints', 'context', 'documents', 'item'];
const PLACEHOLDERS = [...PLAIN, ...ITEM_FIELDS.map((field) => `item:${field}`)];

/** Most ids that a message lists. */
const MOST_IDS = 10;

/** Different ones of a brief that are looked at: more problems than these are not listed. */
const MOST_PLACEHOLDERS = 200;

interface Reference {
  readonly path: Path;
  readonly id: string;
  /** Absent: any stage will do. */
  readonly wants?: 'before' | 'tasks' | 'session' | 'reviewer' | 'again' | 'work' | 'answer';
}

/** Whatever names another stage: that stage is there, comes before where it has to, and makes what is wanted of it. */
export function referenceProblems(stages: readonly RoughStage[]): Finding[] {
  const byId = new Map<string, RoughStage>();
  for (const stage of stages) if (stage.id !== undefined && !byId.has(stage.id)) byId.set(stage.id, stage);
  const reviews = new Map(
    stages.flatMap(({ id, reviews: own }) => own.flatMap((one) => (one.id === undefined ? [] : [[one.id, id ?? '']]))),
  );
  const before = ancestors(stages);
  return [
    ...stages.flatMap((stage) => {
      const { ids, other } = referencesOf(stage);
      const judged = { redo: stage.redo, path: [...stage.at, 'judges', 'else', 'redo'] };
      const found = ids.flatMap(({ path, id, wants }): Finding[] => {
        const say = (message: string): Finding[] => [{ path, message }];
        const named = byId.get(id);
        if (named === undefined) return say(unknownStage(id, [...byId.keys()], reviews));
        if (wants === undefined) return [];
        if (before.get(stage)?.has(id) !== true)
          return say(`${quote(id)} does not come before this stage: it is none of the stages that it needs`);
        const lacks = lacking(named, wants, stage);
        return lacks === undefined ? [] : say(`${quote(id)} ${lacks}`);
      });
      return [...found, ...other, ...planAgain(stage, stages, before), ...leftBehind(stage, judged, stages, before)];
    }),
    ...otherPlans(stages, byId),
    // Without ids of their own, which stage needs which is not known.
    ...(byId.size === stages.length ? circles(stages) : []),
  ];
}

/** Tasks of a plan are made once: a person has approved that plan. */
function planAgain(
  { at, id, redo, fix, each }: RoughStage,
  stages: readonly RoughStage[],
  before: ReadonlyMap<RoughStage, ReadonlySet<string>>,
): Finding[] {
  const target = redo ?? fix;
  if (id === undefined || target === undefined) return [];
  const judge = stages.find((stage) => stage.id === id);
  // A person may read the plan before its tasks are made.
  const isBuilt = ({ id: built = '' }: RoughStage): boolean =>
    judge?.makes['approval'] === undefined || before.get(judge)?.has(built) === true;
  const again = stages.filter((stage) => {
    const isPlan = stage.makes['answer'] === 'tasks' && stages.some((one) => one.each === stage.id && isBuilt(one));
    if (stage.id === undefined || !isPlan) return false;
    const isOnTheWay = stage.id === redo || before.get(stage)?.has(target) === true;
    return isOnTheWay && judge !== undefined && before.get(judge)?.has(stage.id) === true;
  });
  return again.map(({ id: plan = '' }) => ({
    path: [...at, 'judges', 'else', redo === undefined ? 'fix' : 'redo'],
    message: `${quote(plan)} would plan again, and its tasks are made once; name a later stage${redo === undefined || each !== undefined ? '' : ', or a `fix`'}`,
  }));
}

/** A person approves one plan, so the tasks of all stages come from the same one. */
function otherPlans(stages: readonly RoughStage[], byId: ReadonlyMap<string, RoughStage>): Finding[] {
  const planned = stages.flatMap(({ at, each }) => {
    const makes = each === undefined ? undefined : byId.get(each)?.makes;
    return each === undefined || makes?.['answer'] !== 'tasks' ? [] : [{ plan: each, path: [...at, 'each', 'of'] }];
  });
  const [first] = planned;
  if (first === undefined) return [];
  return planned.flatMap(({ plan, path }) => {
    if (plan === first.plan) return [];
    const message = `${quote(plan)} would be a second plan beside ${quote(first.plan)} (${pathText(first.path)}), and a list has one; name ${quote(first.plan)} here as well`;
    return [{ path, message }];
  });
}

/** Work on what is redone that is neither done again with it nor waits for the verdict. */
export function leftBehind(
  judge: RoughStage,
  { redo, path }: { readonly redo: string | undefined; readonly path: Path },
  stages: readonly RoughStage[],
  before: ReadonlyMap<RoughStage, ReadonlySet<string>>,
): Finding[] {
  const { id: own } = judge;
  const known = before.get(judge);
  if (own === undefined || redo === undefined || known?.has(redo) !== true) return [];
  const left = stages.filter((stage) => {
    const needs = before.get(stage);
    const isApart = stage.id !== undefined && stage.id !== own && !known.has(stage.id) && needs?.has(own) !== true;
    return isApart && needs?.has(redo) === true;
  });
  return left.map(({ id = '' }) => ({
    path,
    message: `${quote(id)} builds on ${quote(redo)} and would not be done again: let this stage need ${quote(id)}, or ${quote(id)} need this stage`,
  }));
}

function referencesOf(stage: RoughStage): { readonly ids: Reference[]; readonly other: Finding[] } {
  const { at, needs = [], each, session, redo, fix, brief, reviews } = stage;
  const one = (id: string | undefined, path: readonly string[], wants: Reference['wants']): Reference[] =>
    id === undefined ? [] : [{ path: [...at, ...path], id, ...(wants === undefined ? {} : { wants }) }];
  const { ids, other } = placeholdersOf(stage, brief);
  return {
    ids: [
      ...needs.map((id, index) => ({ path: [...at, 'needs', index], id })),
      ...one(each, ['each', 'of'], 'tasks'),
      ...one(session, ['session', 'of'], 'session'),
      ...reviews.flatMap(({ at: place, session: of }) =>
        of === undefined ? [] : [{ path: [...place, 'session', 'of'], id: of, wants: 'reviewer' as const }],
      ),
      ...reviews.flatMap(({ at: place, reopens }) =>
        reopens.map(({ category, stage: id }) => ({
          ...{ path: [...place, 'reopens', category, 'stage'], id, wants: 'again' as const },
        })),
      ),
      ...one(redo, ['judges', 'else', 'redo'], 'before'),
      ...one(fix, ['judges', 'else', 'fix'], 'work'),
      ...ids,
    ],
    other,
  };
}

function placeholdersOf(
  { at, has }: RoughStage,
  brief: string,
): { readonly ids: Reference[]; readonly other: Finding[] } {
  const path = [...at, 'brief'];
  const ids: Reference[] = [];
  const other: Finding[] = [];
  const seen = new Set<string>();
  for (const [whole, name] of brief.matchAll(/\{\{|\{([^{}\n]*)\}|\{/g)) {
    if (whole === '{{' || seen.has(whole)) continue;
    if (seen.size === MOST_PLACEHOLDERS) break;
    seen.add(whole);
    if (name?.startsWith('of:') === true) ids.push({ path, id: name.slice(3), wants: 'answer' });
    else if (name === undefined || !PLACEHOLDERS.includes(name))
      other.push({ path, message: unknownPlaceholder(whole, name) });
    else if (name.startsWith('item') && !has('each'))
      other.push({
        path,
        message: `${quote(whole)} is ${name === 'item' ? '' : 'of '}an entry of \`each\`, which this stage does not have`,
      });
  }
  return { ids, other };
}

function unknownPlaceholder(whole: string, name: string | undefined): string {
  const literal = 'write “{{” for a brace';
  if (name === undefined) return `a “{” begins no placeholder; ${literal}`;
  const close = nearest(name, PLACEHOLDERS);
  const known = [...PLAIN, 'item:FIELD', 'of:STAGE'].map((one) => `{${one}}`).join(', ');
  const hint = close === undefined ? `there are ${known}` : `did you mean “{${close}}”`;
  return `${quote(whole)} is no placeholder; ${hint}, or ${literal}${close === undefined ? '' : '?'}`;
}

function unknownStage(id: string, known: readonly string[], reviews: ReadonlyMap<string, string>): string {
  const reviewed = reviews.get(id);
  if (reviewed !== undefined)
    return `${quote(id)} is the review of ${quote(reviewed)}; name that stage, which has passed when its review has`;
  const close = nearest(id, known);
  if (close !== undefined) return `no stage is called ${quote(id)}; did you mean “${close}”?`;
  if (known.length === 0) return `no stage is called ${quote(id)}, nor anything else`;
  const more = known.length > MOST_IDS ? ` and ${known.length - MOST_IDS} more` : '';
  return `no stage is called ${quote(id)}; there ${known.length === 1 ? 'is' : 'are'} ${known.slice(0, MOST_IDS).map(quote).join(', ')}${more}`;
}

/** Only answers by a schema reach work that has begun. */
export const UNSEEN = 'gives no answer by a schema, so this work would not see that it is done again';
const NO_TASKS = 'does not answer with tasks: give it `answer: tasks`';
const MANY_SESSIONS = 'has a session for each of its tasks, and none of its own';

/** Why a reference of this kind cannot name the stage; undefined: it can. */
function lacking(
  { makes, each }: RoughStage,
  wants: NonNullable<Reference['wants']>,
  by: RoughStage,
): string | undefined {
  const is = (key: string): boolean => makes[key] !== undefined;
  switch (wants) {
    case 'before':
      return undefined;
    case 'tasks':
      return makes['answer'] === 'tasks' || each !== undefined ? undefined : NO_TASKS;
    case 'session':
      if (is('approval')) return 'is judged by a person, so there is no session of it';
      if (is('checks')) return 'runs commands, so there is no session of it';
      return each === undefined || by.each !== undefined ? undefined : MANY_SESSIONS;
    case 'reviewer':
      if (is('approval')) return 'is judged by a person, so there is no session of it';
      if (is('checks')) return 'runs commands, so there is no session of it';
      return each === undefined || by.each !== undefined ? undefined : MANY_SESSIONS;
    case 'again':
      if (each !== undefined && by.each === undefined) return 'has a task for each entry, and this stage has one';
      return isJsonObject(makes['answer']) ? undefined : UNSEEN;
    case 'work':
      if (makes['answer'] === 'tasks')
        return 'plans tasks, and a fix like it plans none; name a stage that makes a document or code';
      return is('document') || is('documents') || is('code')
        ? undefined
        : 'makes no document and no code, so a fix like it changes nothing';
    case 'answer':
      return is('document') || is('documents') || is('answer') ? undefined : 'makes no document and no answer';
    default:
      return wants satisfies never;
  }
}

/** The ids of the stages that each one needs, directly or through others. */
export function ancestors(stages: readonly RoughStage[]): ReadonlyMap<RoughStage, ReadonlySet<string>> {
  const direct = needsById(stages);
  return new Map(
    stages.map((stage, index) => {
      const found = new Set<string>();
      const open = [...needsAt(stages, index)];
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        if (found.has(next)) continue;
        found.add(next);
        open.push(...(direct.get(next) ?? []));
      }
      return [stage, found] as const;
    }),
  );
}

/** The ids of the stages that the one at this place directly needs. */
export function needsAt(stages: readonly RoughStage[], index: number): readonly string[] {
  return stages[index]?.needs ?? (index === 0 ? [] : [stages[index - 1]?.id ?? '']);
}

function needsById(stages: readonly RoughStage[]): ReadonlyMap<string, readonly string[]> {
  return new Map(stages.map(({ id }, index) => [id ?? '', needsAt(stages, index)]));
}

/** One for each stage at which a way through the needs closes. */
function circles(stages: readonly RoughStage[]): Finding[] {
  const direct = needsById(stages);
  const done = new Set<string>();
  const found: string[][] = [];
  const walk = (id: string, way: readonly string[]): void => {
    const start = way.indexOf(id);
    if (start >= 0) found.push([...way.slice(start), id]);
    if (start >= 0 || done.has(id)) return;
    for (const need of direct.get(id) ?? []) walk(need, [...way, id]);
    done.add(id);
  };
  for (const id of direct.keys()) walk(id, []);
  return found.flatMap((circle) => {
    const stage = stages.find(({ id }) => id === circle[0]);
    if (stage === undefined) return [];
    const path = stage.needs === undefined ? stage.at : [...stage.at, 'needs'];
    const message =
      circle.length === 2
        ? `${quote(circle[0] ?? '')} needs itself`
        : `a circle: ${circle.map(quote).join(', which needs ').replace(', which', '')}`;
    return [
      {
        path,
        message:
          circle.length > 12
            ? `a circle of ${circle.length - 1} stages: ${quote(circle[0] ?? '')} needs itself through them`
            : message,
      },
    ];
  });
}
