import type { Finding } from '../../text/explain-issue.ts';
import { nearest } from '../../text/nearest.ts';
import { quote } from '../../text/problem.ts';
import { ancestors } from './check-references.ts';
import type { RoughStage } from './rough-list.ts';

/**
 * An agent has a role of each stage, and another agent one of its review. `staffed`: the roles of the agents; undefined: agents are
 * made for the list.
 */
export function roleProblems(stages: readonly RoughStage[], staffed: readonly string[] | undefined): Finding[] {
  const isStaffed = (role: string): boolean => staffed === undefined || staffed.includes(role);
  const authorOf = (stage: RoughStage | undefined): string | undefined => stage?.by.find(isStaffed);
  /** Only authors could judge: no other role among these has an agent. */
  const isOwn = (roles: readonly string[], authors: readonly (string | undefined)[]): boolean => {
    const judges = roles.filter(isStaffed);
    return judges.length > 0 && judges.every((role) => authors.includes(role));
  };
  /** The roles of which an entry of the stage may name one. */
  const choices = ({ each, by }: RoughStage): readonly string[] => (each === undefined ? [] : by.filter(isStaffed));
  const doneBy = (stage: RoughStage, role: string | undefined): string | undefined =>
    role !== undefined && choices(stage).includes(role) ? role : authorOf(stage);
  const before = ancestors(stages);
  return stages.flatMap((stage) => {
    const { at, by, reviews } = stage;
    const author = authorOf(stage);
    const work = judgedWork(stage, stages, before);
    const judged = [undefined, ...new Set(work.flatMap(choices))]
      .map((role) => work.flatMap((one) => ({ id: one.id ?? '', role: doneBy(one, role) ?? '' })))
      .find((pairs) =>
        isOwn(
          by,
          pairs.map(({ role }) => role),
        ),
      )
      ?.filter(({ role }) => by.includes(role));
    const other = 'name another role that an agent has';
    return [
      ...unstaffed(by, [...at, 'by'], staffed),
      ...unstaffed(stage.asks, [...at, 'asks', 'of'], staffed),
      ...reviews.flatMap((review): Finding[] => {
        const ofReview = [...review.at, 'by'];
        const alone = [author, ...choices(stage)].find((role) => role !== undefined && isOwn(review.by, [role]));
        const own = `no role reviews its own work, and ${quote(alone ?? '')} does this stage; ${other}`;
        return [
          ...unstaffed(review.by, ofReview, staffed),
          ...(alone !== undefined ? [{ path: ofReview, message: own }] : []),
          ...lenders(
            review,
            authorOf(stages.find(({ id, makes }) => id === review.session && makes['checks'] === undefined)),
          ),
        ];
      }),
      ...(judged !== undefined
        ? [
            {
              path: [...at, 'by'],
              message: `no role judges its own work, and ${judged.map(({ id, role }) => `${quote(role)} does ${quote(id)}`).join(' and ')}; ${other}`,
            },
          ]
        : []),
    ];
  });
}

/** The agent whose session a review continues must be one of its reviewers. */
function lenders({ at, by, session }: RoughStage['reviews'][number], author: string | undefined): Finding[] {
  if (session === undefined || author === undefined || by.includes(author)) return [];
  const message = `${quote(author)} does ${quote(session)} and is no role of this review; add it to \`by\`, or leave out \`session\``;
  return [{ path: [...at, 'session', 'of'], message }];
}

/** The stage that a rejection goes back to, and documents and code on the way from there. */
function judgedWork(
  judge: RoughStage,
  stages: readonly RoughStage[],
  before: ReadonlyMap<RoughStage, ReadonlySet<string>>,
): RoughStage[] {
  const target = judge.redo ?? judge.fix;
  if (target === undefined) return [];
  return stages.filter((stage) => {
    const { id, makes } = stage;
    if (id === undefined || id === target) return id === target;
    const isMade = ['document', 'documents', 'code'].some((key) => makes[key] !== undefined);
    return isMade && before.get(judge)?.has(id) === true && before.get(stage)?.has(target) === true;
  });
}

function unstaffed(roles: readonly string[], at: RoughStage['at'], staffed: readonly string[] | undefined): Finding[] {
  if (staffed === undefined || roles.length === 0) return [];
  const has = roles.some((role) => staffed.includes(role));
  return roles.flatMap((role, index): Finding[] => {
    if (staffed.includes(role)) return [];
    const close = nearest(role, staffed);
    const path = [...at, index];
    // One staffed role is enough, so others without an agent are a mistake only if they are misspelt.
    if (close !== undefined && !roles.includes(close)) {
      return [{ path, message: `no agent has the role ${quote(role)}; did you mean “${close}”?` }];
    }
    if (has || index > 0) return [];
    const example = `- { name: ${role}, role: ${role}, runtime: … }`;
    return [
      {
        path: at,
        message: `no agent has the role ${roles.map(quote).join(' or ')}; add one to \`agents\`, such as \`${example}\`, or name one of ${[...new Set(staffed)].slice(0, 10).join(', ')}`,
      },
    ];
  });
}
