import type { Finding } from '../../text/explain-issue.ts';
import { isJsonObject } from '../../text/json.ts';
import { quote } from '../../text/problem.ts';
import { ancestors, leftBehind, needsAt, UNSEEN } from './check-references.ts';
import type { RoughStage } from './rough-list.ts';

/** Problems of stages that have a task for each entry, one behind the other. */
export function entryProblems(stages: readonly RoughStage[]): Finding[] {
  const before = ancestors(stages);
  return stages.flatMap((stage, index) =>
    stage.each === undefined
      ? []
      : [...barriers(stage, needsAt(stages, index), stages, before), ...judgeProblems(stage, stages, before)],
  );
}

type Before = ReadonlyMap<RoughStage, ReadonlySet<string>>;

/** An entry continues to a stage without a barrier, so that stage can wait for nothing that its entries do not come through. */
function barriers(
  stage: RoughStage,
  needs: readonly string[],
  stages: readonly RoughStage[],
  before: Before,
): Finding[] {
  const named = stages.find(({ id }) => id !== undefined && id === stage.each);
  if (named?.each === undefined) return [];
  const path = stage.needs === undefined ? [...stage.at, 'each', 'of'] : [...stage.at, 'needs'];
  return needs.flatMap((need): Finding[] => {
    const isKnown = stages.some(({ id }) => id === need);
    if (need === stage.each || before.get(named)?.has(need) === true || !isKnown) return [];
    const message = `an entry continues from ${quote(stage.each ?? '')} at once, so this stage cannot wait for ${quote(need)}`;
    return [{ path, message }];
  });
}

/** A rejection opens the tasks of one entry again, so each stage on the way has one for it. */
function judgeProblems(judge: RoughStage, stages: readonly RoughStage[], before: Before): Finding[] {
  const { at, fix, redo } = judge;
  const path = [...at, 'judges', 'else', fix === undefined ? 'redo' : 'fix'];
  if (fix !== undefined)
    return [{ path, message: 'a stage that judges each entry has its work done again: write `redo`' }];
  if (redo === undefined) return [];
  const known = before.get(judge);
  const isOnTheWay = (one: RoughStage): boolean =>
    one.id === redo || (known?.has(one.id ?? '') === true && before.get(one)?.has(redo) === true);
  return stages
    .filter((one) => isOnTheWay(one) && one.each === undefined && one.makes['answer'] !== 'tasks')
    .map(({ id = '' }) => ({
      ...{ path, message: `${quote(id)} has no task for each entry, so a rejection of one entry cannot open it again` },
    }));
}

/**
 * A stage that a rejection reopens, and all stages between it and the reviewed work, must give an answer: a new document or new code would
 * not reach the folder of work that is under way.
 */
export function reopenProblems(stages: readonly RoughStage[]): Finding[] {
  const before = ancestors(stages);
  return stages.flatMap((stage) =>
    stage.reviews.flatMap(({ at, reopens }) =>
      reopens.flatMap(({ category, stage: target }): Finding[] => {
        const path = [...at, 'reopens', category, 'stage'];
        const known = before.get(stage);
        const between = stages.filter((one) => {
          const isBetween = known?.has(one.id ?? '') === true && before.get(one)?.has(target) === true;
          return isBetween && !isJsonObject(one.makes['answer']);
        });
        const said = between.map(({ id = '' }) => ({
          path,
          message: `${quote(id)} comes between and ${UNSEEN}`,
        }));
        return [...said, ...leftBehind(stage, { redo: target, path }, stages, before)];
      }),
    ),
  );
}

/** A stage that commits names one stage with code, whose work is delivered by no other one. */
export function commitProblems(stages: readonly RoughStage[]): Finding[] {
  const before = ancestors(stages);
  const committed = new Map<string, string>();
  return stages.flatMap((stage, index) => {
    const { at, id = '', makes, each } = stage;
    if (makes['commit'] === undefined) return [];
    const say = (message: string): Finding[] => [{ path: [...at, 'makes', 'commit'], message }];
    const needs = needsAt(stages, index).filter((need) => need !== '');
    const of = each ?? needs[0];
    if (of === undefined || (each === undefined && needs.length > 1))
      return say('commits the work of one stage: let this stage need that one alone');
    const work = stages.find((one) => one.id === of);
    if (work === undefined) return [];
    if (work.makes['code'] === undefined) return say(`${quote(of)} makes no code, so there is nothing to commit`);
    if (each === undefined && work.each !== undefined)
      return say(`${quote(of)} has a task for each entry: add \`each: { of: ${of} }\``);
    const other = committed.get(of);
    committed.set(of, other ?? id);
    if (other !== undefined) return say(`${quote(of)} is committed by ${quote(other)} already`);
    return stages
      .filter((one) => one !== stage && before.get(one)?.has(of) === true && before.get(one)?.has(id) !== true)
      .filter((one) => one.makes['commit'] === undefined)
      .flatMap(({ id: late = '' }) =>
        say(
          `${quote(late)} builds on ${quote(of)}, whose work this stage delivers: let ${quote(late)} need ${quote(id)}`,
        ),
      );
  });
}
