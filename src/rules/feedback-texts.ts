import { LATE_FINDINGS } from '../model/plan/review.ts';
import { lookText, type Look } from '../model/plan/look.ts';

// With what work goes back to its author or reviewer.

type Said = 'approved' | 'rejected' | 'overruled';

export const FEEDBACK = {
  conflict: (commit: string, head: string, files: string) =>
    `Your commit ${commit} conflicts with ${head} in:\n${files}`,
  ranOn: (candidate: string) => `This ran on ${candidate}, which has your work and what was delivered before.`,
  said: (said: Said, look: Look | undefined) => {
    if (said === 'approved') return `approved${lookText(look)}`;
    return said === 'overruled' ? `rejected, overruled: ${LATE_FINDINGS}` : 'rejected';
  },
  verdict: (role: string, agent: string, said: string, summary: string) => `${role} (${agent}): ${said}. ${summary}`,
  notConverging: 'not converging: the same findings as in the round before',
  stops: (why: string) => `${why}, so the work stops`,
  noFinding: 'a rejection needs at least one finding that says what to change',
  noCategory: (names: string) => `a rejection names its \`category\`, one of ${names}`,
  blocked: (category: string, inputs: readonly string[], next: string | null) =>
    [
      `blocked by its review: ${category}`,
      ...(inputs.length === 0 ? [] : [`required inputs: ${inputs.join('; ')}`]),
      ...(next === null ? [] : [`recommended next step: ${next}`]),
    ].join('\n'),
  unspoken: (paths: string) =>
    `\`checks\` says nothing of ${paths}: an approval needs a word on each changed path that is protected`,
  refused: (paths: string) =>
    `you approve, and do not accept the change of ${paths}: reject it with a finding, or accept it in \`checks\``,
  afterFirst: (first: string, why: string) => `${first}\nafter that: ${why}`,
  personAsks: (before: string | undefined) =>
    `a person asked for another try${before === undefined ? '' : `: ${before}`}`,
};
