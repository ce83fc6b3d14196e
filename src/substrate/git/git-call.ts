import type { Processes } from '../ports/processes.ts';
import { SquadError } from '../../model/errors.ts';
import { storageFull, storageRefused } from '../../model/storage-error.ts';

export interface GitPorts {
  readonly processes: Processes;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the git binary. Throws `wrong-environment` when there is none. */
  readonly binary: () => Promise<string>;
}

/** What the processes port keeps of an output; an answer of this length has lost its end. */
const OUTPUT_CAP = 1024 * 1024;
const TIMEOUT_MS = 120_000;

/** On top of the shared prefix: settings by which a repository could hide changes from the engine or make git write more. */
const SETTINGS = [
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

/** The identity on the engine's commits, and on agents' commits if the user has none. */
export const SQUAD_IDENTITY = { name: 'squad', email: 'squad@squad.invalid' };
const IDENTITY = {
  GIT_AUTHOR_NAME: SQUAD_IDENTITY.name,
  GIT_AUTHOR_EMAIL: SQUAD_IDENTITY.email,
  GIT_COMMITTER_NAME: SQUAD_IDENTITY.name,
  GIT_COMMITTER_EMAIL: SQUAD_IDENTITY.email,
};

export interface GitCall {
  readonly cwd: string;
  /** Where git is told to look; without it git discovers, which is for the user's checkout only. */
  readonly gitDirectory?: string;
  readonly workTree?: string;
  readonly index?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export interface GitAnswer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly problem?: string;
}

export interface Git {
  run(args: readonly string[], call: GitCall): Promise<GitAnswer>;
  /** Trimmed output. Throws `wrong-environment` when git fails. */
  text(args: readonly string[], call: GitCall): Promise<string>;
}

/**
 * git as the engine calls it. A part of the `temporary` folder's path marks the processes (see `carriesMarker`): by it a
 * later engine finds and ends what a killed one left running.
 */
export function createGit(ports: GitPorts, temporary?: string): Git {
  const git: Git = {
    run: async (args, call) =>
      ports.processes.run(await ports.binary(), [...prefix(), ...args], {
        cwd: call.cwd,
        env: { ...environmentOf(ports, temporary), ...placesOf(call), ...call.environment },
        timeoutMs: TIMEOUT_MS,
      }),
    text: async (args, call) => {
      const answer = await git.run(args, call);
      if (answer.code !== 0) throw gitFailed(args, answer);
      if (answer.stdout.length >= OUTPUT_CAP) throw gitFailed(args, { ...answer, problem: 'its output is too long' });
      return answer.stdout.trim();
    },
  };
  return git;
}

export function gitFailed(args: readonly string[], answer: GitAnswer): SquadError {
  const verb = args.find((item) => !item.startsWith('-')) ?? 'git';
  const said = `git ${verb}: ${oneLine(answer.stderr)}`;
  if (/No space left on device|Disk quota exceeded/.test(said)) return storageFull(said, answer);
  if (/Read-only file system|Input\/output error/.test(said))
    return storageRefused(`git ${verb}`, oneLine(answer.stderr), answer);
  return new SquadError({
    code: 'wrong-environment',
    message: `git ${verb} failed: ${answer.problem ?? oneLine(answer.stderr)}`,
    next: decideNext(answer.stderr),
  });
}

/** A lock of git's own in the user's repository may be a living git's, and is never removed by squad. */
function decideNext(stderr: string): string {
  // The words around it are in the user's language.
  const lock = /(\/[^'"\n]*\.lock)(?!\w)/.exec(stderr)?.[1];
  if (lock === undefined) return 'Run `squad doctor`, and `git fsck` in the repository.';
  return `Wait for the git that holds ${lock}, and try again; where none runs any more, delete that file.`;
}

export function oneLine(text: string): string {
  return text
    .trim()
    .replaceAll(/\s*\n\s*/g, '; ')
    .slice(0, 2000);
}

/** A full commit id: nothing else is handed to git as a revision, so that no name can be an option or a ref. */
export function requireCommitId(text: string): string {
  if (isCommitId(text)) return text;
  throw new SquadError({ code: 'bad-input', message: `${JSON.stringify(text.slice(0, 80))} is no commit id` });
}

export function isCommitId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** What becomes a part of a ref or of a path. `check-ref-format` would take `-x` and `a..b` is a path. */
export function requireName(text: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,127}$/.test(text)) return text;
  throw new SquadError({
    code: 'bad-input',
    message: `${JSON.stringify(text.slice(0, 80))} cannot name a run, a task or an attempt`,
    next: 'Use lower-case letters, digits and dashes.',
  });
}

function prefix(): readonly string[] {
  return [...hardenedArguments('/dev/null'), ...SETTINGS.flatMap((setting) => ['-c', setting])];
}

function environmentOf(ports: GitPorts, temporary: string | undefined): Record<string, string> {
  return {
    ...gitEnvironment(ports.environment),
    ...IDENTITY,
    // What agents could plant as `refs/replace` must not change what the engine sees.
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    // A local path would do for a partial clone to name a program (`uploadpack`) that git then runs.
    GIT_ALLOW_PROTOCOL: 'http:https',
    ...(temporary === undefined ? {} : { TMPDIR: temporary }),
  };
}

function placesOf(call: GitCall): Record<string, string> {
  return {
    ...(call.gitDirectory === undefined ? {} : { GIT_DIR: call.gitDirectory }),
    ...(call.workTree === undefined ? {} : { GIT_WORK_TREE: call.workTree }),
    ...(call.index === undefined ? {} : { GIT_INDEX_FILE: call.index }),
  };
}

/**
 * Options before every git command of the engine (bar S6): nothing that a repository or an agent can configure may run a
 * program. `filter.*` and `merge.*.driver` cannot be switched off this way: where agents' files are read, checked
 * out or merged, `neutral-settings.ts` overrides them by name.
 */
export function hardenedArguments(emptyHooksPath: string): readonly string[] {
  const settings = [
    `core.hooksPath=${emptyHooksPath}`,
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
  ];
  return settings.flatMap((setting) => ['-c', setting]);
}

/** git's own environment: no prompt, no pager, no optional locks; and no `GIT_*` of the host leaks in. */
export function gitEnvironment(host: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'XDG_CONFIG_HOME'].flatMap((name) => {
    const value = host[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(kept),
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'true',
  };
}
