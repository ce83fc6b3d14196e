import { shellWord } from '../../text/shell-word.ts';
import { oneLine } from './git-call.ts';

/** Why squad cannot work in a folder, and the next step. */
export interface PlaceProblem {
  readonly message: string;
  readonly next: string;
}

/** git's answers about a folder that it does not accept, and facts that squad found without git. */
export interface PlaceFacts {
  readonly path: string;
  /** git's own words, in English; why it could not be started. */
  readonly stderr: string;
  readonly problem?: string | undefined;
  readonly bare: boolean;
  /** The folder is a git directory, or in one. */
  readonly insideGit: boolean;
  /** Root and git directory, as git gave them. */
  readonly root?: string | undefined;
  readonly gitDirectory?: string | undefined;
  readonly isThere: boolean;
  /** The folder is the person's home, or above it. */
  readonly isHome: boolean;
  /** The nearest `.git` at or above the folder, and what it points to if it is a file. */
  readonly dotGit?: { readonly path: string; readonly pointsTo?: string | undefined } | undefined;
  /** Absent: the folder belongs to this user. */
  readonly owner?: string | undefined;
  readonly variables: { readonly GIT_DIR?: string | undefined; readonly GIT_WORK_TREE?: string | undefined };
}

/** Maps each answer of git about an unusable folder to one cause and one next step. */
export function explainPlace(facts: PlaceFacts): PlaceProblem {
  const { path, stderr, problem, isThere, owner } = facts;
  if (!isThere) return { message: `the folder ${path} is gone`, next: 'Change to a folder that is there, with `cd`.' };
  if (problem !== undefined) {
    return { message: `git cannot be started in ${path}: ${problem}`, next: 'Try `git status` there.' };
  }
  if (/dubious ownership/.test(stderr)) {
    const next = `Work in a clone of your own: \`git clone ${shellWord(path)} work\`. If you trust it, run \`git config --global --add safe.directory ${shellWord(path)}\`.`;
    return { message: `git does not trust ${path}: it belongs to ${owner ?? 'another user'}`, next };
  }
  return explainSettings(facts) ?? explainKind(facts) ?? explainMissing(facts);
}

/** There is no repository at all here, and nothing says that there should be one. */
export function isNowhere({ stderr, isThere, dotGit, variables: { GIT_DIR = '' } }: PlaceFacts): boolean {
  return isThere && dotGit === undefined && GIT_DIR === '' && /not a git repository/.test(stderr);
}

/** git stops at configuration that it cannot read, before it looks at anything else. */
function explainSettings({ path, stderr }: PlaceFacts): PlaceProblem | undefined {
  const extension = /unknown repository extensions? found:[;\s]*([^\s;]+)/.exec(stderr)?.[1];
  if (extension !== undefined) {
    const message = `${path} uses an extension that this git does not know: ${extension}`;
    return { message, next: 'Update git, and see `git --version`.' };
  }
  const version = /Expected git repo version [^;\n]*/.exec(stderr)?.[0];
  if (version !== undefined) {
    return { message: `${path} has a format that this git does not know: ${version}`, next: 'Update git.' };
  }
  const isBroken =
    /bad (?:config|boolean|numeric)|config(?:uration)? files?\b|key does not contain|unable to access '[^']*config'/i;
  if (!isBroken.test(stderr)) return undefined;
  return {
    message: `git cannot read its configuration for ${path}: ${oneLine(stderr)}`,
    next: 'Correct the file that git names; `git config --list --show-origin` lists the files that it reads.',
  };
}

function explainKind({ path, bare, insideGit, root, gitDirectory, dotGit }: PlaceFacts): PlaceProblem | undefined {
  if (bare && !insideGit && dotGit !== undefined) {
    const next = `Correct it with \`git -C ${shellWord(path)} config core.bare false\`.`;
    return { message: `${path} is a checkout whose settings say that it has none (core.bare=true)`, next };
  }
  if (bare) {
    const next = `Clone it, and run squad in the clone: \`git clone ${shellWord(path)} work\`.`;
    return { message: `${path} is a bare repository: it has no checkout`, next };
  }
  if (insideGit) {
    return {
      message: `${path} is inside a git directory`,
      next: 'Run squad in its checkout, the folder with your files.',
    };
  }
  if (root === undefined || gitDirectory === undefined) return undefined;
  const next = `Remove the setting with \`git --git-dir ${shellWord(gitDirectory)} config --unset core.worktree\`, or run squad in a clone.`;
  return { message: `${path} is outside of its own checkout, because core.worktree puts that at ${root}`, next };
}

/** git found no repository. Only where there really is none does squad say how to make one. */
function explainMissing({ path, stderr, isHome, dotGit, variables, owner }: PlaceFacts): PlaceProblem {
  const lost = /not a git repository: (\S[^\n]*)/.exec(stderr)?.[1] ?? dotGit?.pointsTo;
  if (dotGit !== undefined && lost !== undefined) {
    const next = `If the repository was moved, run \`git worktree repair ${shellWord(path)}\` in its new place.`;
    return { message: `${path} belongs to a repository that is not at ${lost} any more`, next };
  }
  if (dotGit !== undefined) {
    const whose = owner === undefined ? '' : ` It belongs to ${owner}.`;
    return {
      message: `${dotGit.path} is no git directory that git can use, because its HEAD, objects or refs are missing or cannot be read: ${oneLine(stderr)}.${whose}`,
      next: `Restore it from a copy or a clone; a HEAD that is lost says \`ref: refs/heads/main\`.`,
    };
  }
  if (!/not a git repository/.test(stderr)) {
    return { message: `git cannot work in ${path}: ${oneLine(stderr)}`, next: 'See `git status` there.' };
  }
  const { GIT_DIR } = variables;
  if (GIT_DIR !== undefined && GIT_DIR !== '') {
    const message = `${path} is not in a git checkout: squad finds a repository by its folder, and does not use GIT_DIR=${GIT_DIR}`;
    return { message, next: `Run squad in a clone of it: \`git clone ${shellWord(GIT_DIR)} work\`.` };
  }
  const next = isHome
    ? 'Change to the folder of a repository, with `cd`.'
    : 'Run squad in a repository, or make one: `git init && git add -A && git commit -m "first"`.';
  return { message: `${path} is not in a git checkout: ${oneLine(stderr)}`, next };
}

/** For a HEAD that names no commit. */
export interface HeadFacts {
  readonly root: string;
  readonly stderr: string;
  readonly isHome: boolean;
  /** The branch that HEAD names; undefined: it names none. */
  readonly branch: string | undefined;
  /** The id that HEAD or its branch holds. */
  readonly id: string | undefined;
  /** Another branch, with a commit. */
  readonly other: string | undefined;
}

/** Why HEAD gives no commit for agents to start from. */
export function explainHead({ root, stderr, isHome, branch, id, other }: HeadFacts): PlaceProblem {
  const alternate = /alternate object path: ([^\n;]+)|object directory ([^\n;]+) does not exist/.exec(stderr);
  if (alternate !== null) {
    return {
      message: `${root} borrows objects from ${alternate[1] ?? alternate[2]}, which is not there any more`,
      next: 'Bring that folder back, or work in a new clone; .git/objects/info/alternates names it.',
    };
  }
  if (id !== undefined) {
    return {
      message: `the commit ${id.slice(0, 12)} that HEAD of ${root} names cannot be read`,
      next: 'See `git fsck` there; a clone or a copy may have the commit.',
    };
  }
  if (branch === undefined) {
    return { message: `HEAD of ${root} names no commit and no branch`, next: 'Check a branch out: `git switch main`.' };
  }
  if (other !== undefined) {
    const next = `Check out a branch that has one, with \`git -C ${shellWord(root)} switch ${shellWord(other)}\`, or commit.`;
    return { message: `the branch ${branch} of ${root} has no commit, so there is nothing to start from`, next };
  }
  return {
    message: `${root} has no commit yet, so there is nothing for an agent to start from`,
    next: isHome
      ? 'Commit the files that agents need, and only those: this is your home folder.'
      : `Make one: \`git -C ${shellWord(root)} add -A && git -C ${shellWord(root)} commit -m "first"\`.`,
  };
}
