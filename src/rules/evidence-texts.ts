// Texts for an author whose finished work lacks something.

export const EVIDENCE = {
  and: ', ',
  more: (names: string, left: number) => `${names} and ${left} more`,
  altered: (files: string) => `these files differ from the work that was handed over: ${files}`,
  nothing: 'nothing was changed',
  nothingSince: (commit: string) => `nothing was changed since ${commit} was sent back`,
  failedAgain: (nothing: string, output: string) => `${nothing}, and the check has failed again:\n${output}`,
  unread: (why: string) => `the files in the folder cannot be read: ${why}`,
  stashed: (count: number) => `work is in ${count === 1 ? 'a stash' : `${count} stashes`}; HEAD does not have it`,
  aside: (commit: string) => `${commit}; HEAD does not have it`,
  moreAside: (count: number) => `HEAD does not have ${count} other commits either`,
  notKept: (what: string) => `squad does not keep ${what}`,
  onBranch: (name: string) => `a commit was made on the branch \`${name}\``,
  tagged: (name: string) => `the tag \`${name}\` names a commit`,
  inWorktree: (commit: string) => `the commit ${commit} was made in a worktree of the folder`,
  named: (name: string, commit: string) => `\`${name}\` names the commit ${commit}`,
  inLog: (commit: string) => `the commit ${commit} was made, and no branch has it`,
  ignored: (path: string, by: string, command: string) => `${path} was written, but ${by} ignores it: ${command}`,
  moreIgnored: (count: number) => `${count} more paths were written that git ignores`,
  noCommit: 'no commit was made',
  noCommitAtHead: 'HEAD has no commit of this task',
  refusedPaths: (paths: string) =>
    `git checks out no commit with these paths: ${paths}; make the commit anew without them`,
  tooLong: (names: string) => `no disk takes these long names: ${names}; make the commit anew without them`,
  uncommitted: (files: string) => `changes are not committed: ${files}`,
  noFile: 'no file was changed',
  noChangeAtHead: 'HEAD has no change',
  nothingIn: (paths: string) => `nothing was changed in ${paths}`,
  outside: (paths: string, files: string) => `only ${paths} may change, but these files did: ${files}`,
  touched: (files: string, instead: string) => `these files may not change: ${files}; ${instead}`,
  absent: (path: string) => `${path} does not exist`,
  present: (path: string) => `${path} still exists; remove it`,
  notRun: (run: string) => `\`${run}\` was not run`,
  fails: (run: string, output: string) => `\`${run}\` fails:\n${output}`,
  subject: (subject: string, problem: string) =>
    `the commit “${subject}” breaks the commit policy: ${problem}. Write its message anew: \`git commit --amend\``,
  otherSubject: (said: string, made: string) =>
    `the answer names the subject “${said}”, but the commit has “${made}”: both have to be the same`,
  noPullRequest: (why: string | undefined) => `no pull request was opened${why === undefined ? '' : `: ${why}`}`,
  notOpen: (url: string) => `${url} is not open`,
  otherCommit: (url: string, commit: string, own: string | null) =>
    `${url} is at ${commit}, not at ${own ?? 'this work'}`,
  notRead: (path: string) => `${path} was not read`,
  noForm: (schema: string) => `no answer of the form ${schema}`,
  lookFirst:
    'you approve, and used no tool: you have looked at nothing. Look at the change and at the files that it concerns, then answer again',
};
