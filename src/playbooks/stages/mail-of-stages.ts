import type { View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { NewTask, ReviewPolicy } from '../../model/plan/task.ts';
import { defined } from '../../text/defined.ts';
import { mailCriteria, type MailWork } from '../shared/mail-work.ts';
import { adviceRefusal } from './advice.ts';
import { addedEntry } from './added-entries.ts';
import { reviewsIn } from './list-facts.ts';
import { finalStages } from './outside-work.ts';
import { grantsOf } from './path-grants.ts';
import { rolesOf } from './roles.ts';
import { inOrder, reviewersOf } from './stage-duties.ts';
import type { StageList } from './stage-list.ts';
import type { Play, StagesOptions } from './stage-options.ts';
import { progressOf } from './stage-progress.ts';

/** Work that mail adds is reviewed like the work of a stage, and the judges of the whole wait for it. */
export function mailOfStages(view: View, options: Play): MailWork {
  const { list } = options;
  const judged = new Set(finalStages(list).map(({ id }) => id));
  const finals = judged.size === 0 ? [] : progressOf(view, list).filter(({ stage }) => judged.has(stage.id));
  const criteria = mailCriteria(view);
  const asEntry = (asked: NewTask): PlanChange[] => entryByMail(view, options, asked);
  return {
    tasks: (_, asked) => {
      const entry = asEntry(asked).flatMap((change) => (change.do === 'add-task' ? [change.task] : []));
      if (entry.length > 0) return entry;
      const members = view.roster.filter(({ name, role }) =>
        asked.agent === undefined ? role === asked.role : name === asked.agent,
      );
      const makers = members.filter(({ readOnly }) => readOnly !== true);
      const [maker] = makers;
      if (maker === undefined || rolesOf(list)[asked.role]?.delivers === 'none') return [asked];
      // A member that only reads could not deliver it.
      const by = makers.length === members.length ? {} : { agent: maker.name };
      const own = {
        ...asked,
        ...by,
        workspace: 'own',
        integrate: true,
        ...reviewByMail(view, options, asked.role, criteria),
      } as const;
      if (mayChangeNothing(list, asked.role)) return [{ ...own, mayChangeNothing: true }];
      return [{ ...own, requires: [{ kind: makers.every(({ commits }) => commits) ? 'commit' : 'diff' }] }];
    },
    records: (_, asked) => asEntry(asked).filter((change) => change.do === 'put'),
    answer: (_, task) => {
      const agrees = ['its answer agrees with the code', ...criteria.slice(1)];
      return { ...task, ...reviewByMail(view, options, task.role, agrees) };
    },
    refusal: (_, ask) => adviceRefusal(view, options, ask),
    grants: grantsOf(options),
    finals: finals.flatMap(({ tasks }) => tasks.map(({ state }) => state.id)),
  };
}

/** Work for a stage with `each` that others follow is an entry: they follow here as well. Empty: there are no such stages. */
function entryByMail(view: View, options: Play, asked: NewTask): PlanChange[] {
  const { id, title, role, brief, needs, session, parent } = asked;
  const stage = options.list.stages.find(
    ({ makes, each, by }) => 'code' in makes && each !== undefined && by.includes(role),
  );
  if (stage === undefined) return [];
  const members = view.roster.filter((member) =>
    asked.agent === undefined ? member.role === role : member.name === asked.agent,
  );
  const makers = members.filter(({ readOnly }) => readOnly !== true);
  const agent = asked.agent ?? (makers.length === members.length ? undefined : makers[0]?.name);
  const entry = { id, title, brief: brief.text, role, needs: [], paths: [], acceptance: mailCriteria(view) };
  const first = { brief, needs, session, ...defined({ parent, agent }) };
  return addedEntry(view, options, { stage, entry, first, later: defined({ parent }), mail: brief.mail ?? [] });
}

/** Whether all work on code that the list has for this role may. */
function mayChangeNothing({ stages }: StageList, role: string): boolean {
  const own = stages.flatMap(({ by, makes }) => (by.includes(role) && 'code' in makes ? makes : []));
  return own.length > 0 && own.every((makes) => makes.mayChangeNothing === true);
}

/** By the reviewers of code, or else of any work. */
function reviewByMail(
  view: View,
  { list, reviewRounds }: StagesOptions,
  author: string,
  criteria: readonly string[],
): Pick<NewTask, 'review' | 'laterReviews'> {
  const reviewed = list.stages.filter((stage) => stage.review !== undefined);
  const stage = reviewed.find(({ makes }) => 'code' in makes) ?? reviewed.at(-1);
  const reviews = reviewsIn(stage ?? {});
  const policies = reviews.flatMap(({ id, by: roles, rounds = reviewRounds }): ReviewPolicy[] => {
    const by = reviewersOf(roles, author, view.roster);
    if (by.length === 0) return [];
    const policy: ReviewPolicy = { by, quorum: 'all', rounds, criteria: [...criteria] };
    return [reviews.length === 1 ? policy : { id, ...policy }];
  });
  return inOrder(policies);
}
