import { statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { badInput, type SquadError, wrongEnvironment } from '../../model/errors.ts';
import { limitByWords } from '../../model/machine-limit.ts';
import { storageFull, storageRefused } from '../../model/storage-error.ts';
import { defined, pickVariables } from '../../text/defined.ts';
import type { Processes } from '../ports/processes.ts';
import { type Conversation, converse } from '../system/process/conversation.ts';
import { type CageView, createGitCage, type FindCage } from '../system/process/git-cage.ts';
import { lockedError, lockIn } from './git-locks.ts';
import { requirePresent } from './require-present.ts';

/** With less than this, some file system or other writes no file any more. */
const NOTHING_LEFT = 256 * 1024;

/** Where a git works and writes. */
interface GitPlaces {
  readonly cwd: string;
  readonly gitDirectory?: string;
  readonly workTree?: string;
  readonly index?: string;
  readonly cage?: { readonly writable: readonly string[] };
}

const WRITES: ReadonlySet<string> = new Set(
  `add am apply branch checkout checkout-index clone commit commit-tree config fetch gc
   hash-object index-pack init merge merge-file merge-tree mktree pack-objects pack-refs push
   read-tree repack reset stash symbolic-ref tag unpack-objects update-index update-ref
   worktree write-tree`.split(/\s+/),
);

export interface GitPorts {
  readonly processes: Processes;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the git binary. Throws `wrong-environment` when there is none. */
  readonly binary: () => Promise<string>;
  /** squad's own: scratch lies there. */
  readonly stateDirectory: string;
  /** Finds the cage for a git that works on agents' files; absent: that of this machine. */
  readonly cage?: FindCage;
}

/** The next step after an error of git's own. */
export const CHECK_GIT = 'Run `squad doctor`, and `git fsck` in the repository.';

/** The processes port cuts output at this length. */
export const OUTPUT_CAP = 1024 * 1024;
const TIMEOUT_MS = 120_000;

/** By default git 2.39 flushes neither refs nor single objects. An older git knows no other way, and writes them as before. */
const DURABLE = ['-c', 'core.fsync=committed,pack-metadata,reference,index', '-c', 'core.fsyncMethod=batch'];

/** The identity on the engine's commits, and on agents' commits if the user has none. */
export const SQUAD_IDENTITY = { name: 'squad', email: 'squad@squad.invalid' };

export function identityVariables({ name, email }: { name: string; email: string }): Record<string, string> {
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
}

export interface GitCall {
  readonly cwd: string;
  /** Without it git discovers the directory, which is right for the user's checkout only. */
  readonly gitDirectory?: string;
  readonly workTree?: string;
  readonly index?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** A file that git reads as its standard input. */
  readonly input?: string;
  /** Flushes the content of each file before it gets its name. The name itself is not flushed yet. */
  readonly durable?: boolean;
  /** It is at work on what an agent made, in a cage that shows this. */
  readonly cage?: CageView;
}

export interface GitAnswer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly problem?: string;
  /** It failed where it writes, and the disk of this folder has no space left. */
  readonly fullDisk?: string;
}

export interface Git {
  /** Throws `storage-refused` when git failed in a `gitDirectory` that is not there. */
  run(args: readonly string[], call: GitCall): Promise<GitAnswer>;
  /** Trimmed output. Throws `wrong-environment` when git fails. */
  text(args: readonly string[], call: GitCall): Promise<string>;
  /** A git that stays. */
  converse(args: readonly string[], call: GitCall): Promise<Conversation>;
}

/**
 * git as the engine calls it. The path of the `temporary` folder marks the processes (see `carriesMarker`), so that a later
 * engine can find and end those of a killed one.
 */
export function createGit(ports: GitPorts, temporary?: string): Git {
  const placeOf = (call: GitCall) => ({
    kind: kindOf(call),
    cwd: call.cwd,
    env: { ...environmentOf(ports, temporary), ...placesOf(call), ...call.environment },
  });
  const findCage = ports.cage ?? createGitCage(ports.processes);
  const commandOf = async (args: readonly string[], call: GitCall): Promise<readonly [string, readonly string[]]> => {
    const binary = await ports.binary();
    const all = [...hardenedArguments(), ...(call.durable === true ? DURABLE : []), ...args];
    const cage = call.cage === undefined ? undefined : await findCage(binary, placeOf(call).env);
    // Where the machine has none, `squad doctor` says so.
    if (call.cage === undefined || cage === undefined || !('wrap' in cage)) return [binary, all];
    const [program = binary, ...before] = await cage.wrap(call.cage, call.cwd);
    return [program, [...before, binary, ...all]];
  };
  const git: Git = {
    run: async (args, call) => {
      const answer = await ports.processes.run(...(await commandOf(args, call)), {
        ...placeOf(call),
        ...(call.input === undefined ? {} : { input: call.input }),
        timeoutMs: TIMEOUT_MS,
      });
      if (answer.code === 0) return answer;
      if (call.gitDirectory !== undefined) requirePresent(call.gitDirectory);
      return { ...answer, ...defined({ fullDisk: findFullDisk(args, call, temporary) }) };
    },
    converse: async (args, call) => converse(...(await commandOf(args, call)), placeOf(call)),
    text: async (args, call) => {
      const answer = await git.run(args, call);
      if (answer.code !== 0) throw gitFailed(args, answer);
      if (answer.stdout.length >= OUTPUT_CAP) throw gitFailed(args, { ...answer, problem: 'its output is too long' });
      return answer.stdout.trim();
    },
  };
  return git;
}

/** Without a directory that squad names, git looks for one, which the person's checkout alone may tell it. */
function kindOf({ gitDirectory, cage }: GitCall): 'git-checkout' | 'git-store' | 'git-caged' {
  if (cage !== undefined) return 'git-caged';
  return gitDirectory === undefined ? 'git-checkout' : 'git-store';
}

/**
 * The id of a commit, or of another object of it (`<ref>^{commit}`, `<commit>^{tree}`); undefined: there is none. Throws where git could not
 * look, such as out of open files.
 */
export async function findObject(git: Git, call: GitCall, name: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', name];
  const found = await git.run(args, call);
  if (found.code === 0) return found.stdout.trim();
  const broken = found.problem === undefined ? machineFailed(args, found) : gitFailed(args, found);
  if (broken !== undefined) throw broken;
  return undefined;
}

/** The entries of an output in git's `-z` form. */
export function splitEntries(text: string): readonly string[] {
  return text.split('\0').filter((entry) => entry !== '');
}

export function gitFailed(args: readonly string[], answer: GitAnswer): SquadError {
  const broken = machineFailed(args, answer);
  if (broken !== undefined) return broken;
  const lock = lockIn(answer.stderr);
  if (lock !== undefined) return lockedError(lock, answer);
  return wrongEnvironment(`git ${verbOf(args)} failed: ${answer.problem ?? oneLine(answer.stderr)}`, CHECK_GIT);
}

/** The error of a git that failed for want of space or another limit of the machine; undefined: it failed for something else. */
export function machineFailed(args: readonly string[], answer: GitAnswer): SquadError | undefined {
  const said = `git ${verbOf(args)}: ${oneLine(answer.stderr)}`;
  if (/No space left on device|Disk quota exceeded|Out of diskspace/.test(said)) return storageFull(said, answer);
  if (answer.fullDisk !== undefined) return storageFull(`${said} (${answer.fullDisk})`, answer);
  if (/Read-only file system|Input\/output error/.test(said))
    return storageRefused(`git ${verbOf(args)}`, oneLine(answer.stderr), answer);
  return limitByWords(`${answer.problem ?? ''} ${answer.stderr}`, answer);
}

export function oneLine(text: string): string {
  return text
    .trim()
    .replaceAll(/\s*\n\s*/g, '; ')
    .slice(0, 2000);
}

/** Throws unless the text is a full commit id. squad passes no other revision to git, so none can be an option or a ref. */
export function requireCommitId(text: string): string {
  if (isCommitId(text)) return text;
  throw badInput(`${JSON.stringify(text.slice(0, 80))} is not a commit id`);
}

export function isCommitId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** Throws unless the text can be part of a ref and a path: `check-ref-format` would accept `-x`. */
export function requireName(text: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,127}$/.test(text)) return text;
  throw badInput(
    `${JSON.stringify(text.slice(0, 80))} cannot name a run, a task or an attempt`,
    'Use lower-case letters, digits and dashes.',
  );
}

function environmentOf(ports: GitPorts, temporary: string | undefined): Record<string, string> {
  return {
    ...gitEnvironment(ports.environment),
    ...identityVariables(SQUAD_IDENTITY),
    // An agent's `refs/replace` must not change what the engine sees.
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    // For a local path a partial clone could name a program (`uploadpack`) that git would run.
    GIT_ALLOW_PROTOCOL: 'http:https',
    ...(temporary === undefined ? {} : { TMPDIR: temporary }),
  };
}

function placesOf({ gitDirectory, workTree, index }: GitCall): Record<string, string> {
  return defined({ GIT_DIR: gitDirectory, GIT_WORK_TREE: workTree, GIT_INDEX_FILE: index });
}

/**
 * For every git command of the engine (bar S6): no configuration runs a program, hides changes or makes git write more. No option disables
 * `filter.*` and `merge.*.driver`, so for agents' files git reads only the run's configuration, which has none.
 */
export function hardenedArguments(): readonly string[] {
  const settings = [
    'core.hooksPath=/dev/null',
    'core.fsmonitor=false',
    'core.pager=cat',
    'core.editor=true',
    'core.sshCommand=false',
    'core.askPass=',
    'credential.helper=',
    'commit.gpgsign=false',
    'tag.gpgsign=false',
    'diff.external=',
    'gc.auto=0',
    'maintenance.auto=false',
    'protocol.ext.allow=never',
    'protocol.file.allow=user',
    'submodule.recurse=false',
    'advice.detachedHead=false',
    'rerere.enabled=false',
    'core.untrackedCache=false',
    'core.splitIndex=false',
    'core.trustctime=true',
    'core.checkStat=default',
    'core.ignoreStat=false',
    'core.preloadIndex=true',
    'status.submoduleSummary=false',
    'log.showSignature=false',
    'merge.verifySignatures=false',
  ];
  return settings.flatMap((setting) => ['-c', setting]);
}

/** git's environment: no prompt, no pager, no optional locks, and no `GIT_*` variable of the host. */
export function gitEnvironment(host: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return {
    ...pickVariables(host, ['PATH', 'HOME', 'LANG', 'TMPDIR', 'XDG_CONFIG_HOME']),
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_PAGER: 'cat',
    // squad reads why git failed.
    LC_MESSAGES: 'C',
    GIT_EDITOR: 'true',
  };
}

/** The command of git's arguments, past the settings before it. */
export function verbOf(args: readonly string[]): string {
  return args.find((item, index) => !item.startsWith('-') && args[index - 1] !== '-c') ?? 'git';
}

/**
 * The folder whose disk has no space left, where a git has failed that writes: of a full disk many of its messages say no word.
 * `temporary`: where its own files lie.
 */
function findFullDisk(args: readonly string[], call: GitPlaces, temporary: string | undefined): string | undefined {
  if (!WRITES.has(verbOf(args))) return undefined;
  const { cwd, gitDirectory, workTree, index, cage } = call;
  const places = [gitDirectory, index && dirname(index), workTree, temporary, ...(cage?.writable ?? []), cwd];
  return places.find((place) => place !== undefined && isFull(resolve(cwd, place)));
}

function isFull(folder: string): boolean {
  try {
    const { bavail, bfree, bsize, files, ffree } = statfsSync(folder);
    // Only the superuser may use the reserved blocks.
    const blocks = process.getuid?.() === 0 ? bfree : bavail;
    return blocks * bsize < NOTHING_LEFT || (files > 0 && ffree === 0);
  } catch {
    // The folder is gone, and says nothing of a disk.
    return false;
  }
}
