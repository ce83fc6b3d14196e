import type { Finding } from '../../text/explain-issue.ts';
import { quote } from '../../text/problem.ts';
import { ancestors, needsAt } from './check-references.ts';
import type { RoughStage } from './rough-list.ts';

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
