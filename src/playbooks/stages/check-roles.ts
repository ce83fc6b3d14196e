import { nearest } from '../../text/nearest.ts';
import { quote } from '../../text/problem.ts';
import type { RoughStage, Said } from './rough-list.ts';

/**
 * An agent has a role of each stage, and another agent one of its review. `staffed`: the roles of the agents; undefined: agents are
 * made for the list.
 */
export function roleProblems(stages: readonly RoughStage[], staffed: readonly string[] | undefined): Said[] {
  const isStaffed = (role: string): boolean => staffed === undefined || staffed.includes(role);
  const authorOf = (stage: RoughStage | undefined): string | undefined => stage?.by.find(isStaffed);
  /** Of these roles only the author's. */
  const isOwn = (roles: readonly string[], author: string | undefined): author is string => {
    const judges = roles.filter(isStaffed);
    return author !== undefined && judges.length > 0 && judges.every((role) => role === author);
  };
  return stages.flatMap((stage) => {
    const { at, by, review, redo, fix } = stage;
    const judged = stages.find(({ id }) => id !== undefined && id === (redo ?? fix));
    const [author, wrote] = [authorOf(stage), authorOf(judged)];
    const ofReview = [...at, 'review', 'by'];
    const other = 'name another role that an agent has';
    return [
      ...unstaffed(by, [...at, 'by'], staffed),
      ...unstaffed(review?.by ?? [], ofReview, staffed),
      ...(isOwn(review?.by ?? [], author)
        ? [{ path: ofReview, message: `no role reviews its own work, and ${quote(author)} does this stage; ${other}` }]
        : []),
      ...(isOwn(by, wrote)
        ? [
            {
              path: [...at, 'by'],
              message: `no role judges its own work, and ${quote(wrote)} does ${quote(judged?.id ?? '')}; ${other}`,
            },
          ]
        : []),
    ];
  });
}

function unstaffed(roles: readonly string[], at: RoughStage['at'], staffed: readonly string[] | undefined): Said[] {
  if (staffed === undefined || roles.length === 0) return [];
  const has = roles.some((role) => staffed.includes(role));
  return roles.flatMap((role, index): Said[] => {
    if (staffed.includes(role)) return [];
    const close = nearest(role, staffed);
    const path = [...at, index];
    // Of roles of which one is enough, those without an agent are no mistake, unless they are misspelt.
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
