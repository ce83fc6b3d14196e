import { nearest } from '../../text/nearest.ts';
import { quote } from '../../text/problem.ts';
import type { RoughStage, Said } from './rough-list.ts';

/**
 * Somebody has a role of each stage, and somebody else one of its review. `staffed`: the roles of the agents; undefined: agents are
 * made for the list.
 */
export function roleProblems(stages: readonly RoughStage[], staffed: readonly string[] | undefined): Said[] {
  return stages.flatMap(({ at, by, review }) => {
    const author = staffed === undefined ? by[0] : by.find((role) => staffed.includes(role));
    const path = [...at, 'review', 'by'];
    const isStaffed = (role: string): boolean => staffed === undefined || staffed.includes(role);
    const reviewers = (review?.by ?? []).filter(isStaffed);
    const isOwn = author !== undefined && reviewers.length > 0 && reviewers.every((role) => role === author);
    return [
      ...unstaffed(by, [...at, 'by'], staffed),
      ...(review === undefined ? [] : unstaffed(review.by, path, staffed)),
      ...(isOwn
        ? [
            {
              path,
              message: `nobody reviews their own work: ${quote(author)} does this stage, so name another role that somebody has`,
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
    // Of roles of which one is enough, those that nobody has are no mistake, unless they are misspelt.
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
