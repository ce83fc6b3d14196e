import type { Finding } from '../../text/explain-issue.ts';
import { isJsonObject } from '../../text/json.ts';
import { quote } from '../../text/problem.ts';
import { ancestors, leftBehind, UNSEEN } from './check-references.ts';
import type { RoughStage } from './rough-list.ts';

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
