const MOST = 72;

/** A line of COMMIT_POLICY.md such as ``Subject: `(feat|fix): .+` ``, which every subject has to match. */
const RULE = /^\s*(?:[-*]\s*)?subject\s*:\s*`([^`\n]{1,200})`/im;

/** Why a commit may not have this subject; empty: it may. */
export function subjectProblems(subject: string, policy: string): string[] {
  const [, rule] = RULE.exec(policy) ?? [];
  return [
    ...(subject.trim() === '' ? ['the subject of the commit is empty'] : []),
    ...(/[\r\n]/.test(subject) ? ['the subject of the commit is one line'] : []),
    ...([...subject].length > MOST ? [`the subject of the commit has more than ${MOST} characters`] : []),
    ...(rule === undefined || matches(subject, rule) ? [] : [`the subject of the commit does not follow \`${rule}\``]),
  ];
}

/** A rule that is no regular expression refuses nothing: the policy is written for people, too. */
function matches(subject: string, rule: string): boolean {
  try {
    return new RegExp(`^(?:${rule})$`, 'u').test(subject.slice(0, 200));
  } catch {
    return true;
  }
}
