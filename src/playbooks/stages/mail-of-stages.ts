import type { View } from '../../model/plan.ts';
import { defined } from '../../text/defined.ts';
import type { ReviewPolicy } from '../../model/plan/task.ts';
import { mailCriteria, type MailWork } from '../shared/mail-work.ts';
import { grantsOf } from './path-grants.ts';
import { finalStages } from './outside-work.ts';
import { reviewersOf } from './stage-duties.ts';
import type { StagesOptions } from './stage-options.ts';
import { progressOf } from './stage-progress.ts';
import { rolesOf } from './roles.ts';
import type { StageList } from './stage-list.ts';

/** Work that mail adds is reviewed like the work of a stage, and the judges of the whole wait for it. */
export function mailOfStages(view: View, options: StagesOptions): MailWork {
  const { list } = options;
  const judged = new Set(finalStages(list).map(({ id }) => id));
  const finals = judged.size === 0 ? [] : progressOf(view, list).filter(({ stage }) => judged.has(stage.id));
  const review = (by: string): { review?: ReviewPolicy } => defined({ review: reviewByMail(view, options, by) });
  return {
    tasks: (_, asked) => {
      const members = view.roster.filter(({ name, role }) =>
        asked.agent === undefined ? role === asked.role : name === asked.agent,
      );
      const makers = members.filter(({ readOnly }) => readOnly !== true);
      const [maker] = makers;
      if (maker === undefined || rolesOf(list)[asked.role]?.delivers === 'none') return [asked];
      // A member that only reads could not deliver it.
      const by = makers.length === members.length ? {} : { agent: maker.name };
      const own = { ...asked, ...by, workspace: 'own', integrate: true, ...review(asked.role) } as const;
      if (mayChangeNothing(list, asked.role)) return [{ ...own, mayChangeNothing: true }];
      return [{ ...own, requires: [{ kind: makers.every(({ commits }) => commits) ? 'commit' : 'diff' }] }];
    },
    answer: (_, task) => ({ ...task, ...review(task.role) }),
    grants: grantsOf(options),
    finals: finals.flatMap(({ tasks }) => tasks.map(({ state }) => state.id)),
  };
}

/** Whether all work on code that the list has for this role may. */
function mayChangeNothing({ stages }: StageList, role: string): boolean {
  const own = stages.flatMap(({ by, makes }) => (by.includes(role) && 'code' in makes ? makes : []));
  return own.length > 0 && own.every((makes) => makes.mayChangeNothing === true);
}

/** By the reviewers of code, or else of any work. */
function reviewByMail(view: View, { list, reviewRounds }: StagesOptions, author: string): ReviewPolicy | undefined {
  const reviewed = list.stages.filter((stage) => stage.review !== undefined);
  const stage = reviewed.find(({ makes }) => 'code' in makes) ?? reviewed.at(-1);
  const by = reviewersOf(stage?.review?.by ?? [], author, view.roster);
  if (by.length === 0) return undefined;
  return { by, quorum: 'all', rounds: stage?.review?.rounds ?? reviewRounds, criteria: mailCriteria(view) };
}
