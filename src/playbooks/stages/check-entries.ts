import type { Finding } from '../../text/explain-issue.ts';
import { quote } from '../../text/problem.ts';
import { ancestors, needsAt } from './check-references.ts';
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
