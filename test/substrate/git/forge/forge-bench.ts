import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSystemClock } from '../../../../src/substrate/system/clock/system-clock.ts';
import { createForge } from '../../../../src/substrate/git/forge/index.ts';
import type { Forge } from '../../../../src/substrate/ports/forge.ts';
import { createSystemProcesses } from '../../../../src/substrate/system/process/system-processes.ts';
import { addFolder, createRepository, git } from '../../../support/git.ts';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../fixtures/forge/fake-${name}.mjs`, import.meta.url));

export interface Pull {
  readonly number: number;
  readonly head: string;
  readonly state: 'OPEN' | 'CLOSED' | 'MERGED';
  readonly isCrossRepository?: boolean;
  readonly headRefOid?: string;
}

/** A repository whose remote `origin` is a real bare repository on this machine. */
export interface ForgeBench {
  readonly root: string;
  readonly repository: string;
  readonly bare: string;
  /** The repository's first commit. */
  readonly base: string;
  readonly forge: Forge;
  forgeWith(changes: {
    environment?: Record<string, string>;
    clis?: readonly ('gh' | 'glab')[];
    pushTimeoutMs?: number;
  }): Forge;
  /** A commit on top of `parent`, on no branch of the repository. */
  commit(parent: string, name: string, text?: string): string;
  /** Of the bare repository; empty: no such branch. */
  remoteHead(branch: string): string;
  /** What the stand-in for GitHub holds. The remote's URL is then one of GitHub, and pushes go to the bare repository. */
  github(state: { mode?: string; pulls?: readonly Pull[]; issues?: readonly object[] }): void;
  /** The same for GitLab, in the project `acme/tools/app`. */
  gitlab(state: { mode?: string; host?: string; requests?: readonly object[]; issues?: readonly object[] }): void;
  /** Of both programs. */
  calls(): { args: string[]; cwd: string; env?: Record<string, string> }[];
  close(): void;
}

export function openForgeBench(): ForgeBench {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-forge-')));
  const [repository, bare, home] = [join(root, 'work tree'), join(root, 'bare.git'), join(root, 'home')];
  mkdirSync(home);
  createRepository(repository);
  git(root, 'init', '-q', '--bare', bare);
  git(repository, 'remote', 'add', 'origin', bare);
  const side = addFolder(repository, join(root, 'side'));
  for (const name of ['gh', 'glab']) symlinkSync(fixture(name), join(root, name));
  const processes = createSystemProcesses({ clock: createSystemClock() });
  const forgeWith: ForgeBench['forgeWith'] = ({ environment = {}, clis = ['gh', 'glab'], pushTimeoutMs }) =>
    createForge(
      {
        processes,
        environment: { PATH: process.env['PATH'], HOME: home, ...environment },
        binary: () => Promise.resolve('/usr/bin/git'),
        stateDirectory: join(root, 'state'),
        forgeCli: (name) => Promise.resolve(clis.includes(name) ? join(root, name) : undefined),
        ...(pushTimeoutMs === undefined ? {} : { pushTimeoutMs }),
      },
      { root: repository, commonDirectory: join(repository, '.git') },
    );
  return {
    root,
    repository,
    bare,
    base: git(repository, 'rev-parse', 'HEAD'),
    forge: forgeWith({}),
    forgeWith,
    commit: (parent, name, text = name) => {
      git(side, 'checkout', '-q', '--detach', parent);
      writeFileSync(join(side, name), text);
      git(side, 'add', '-A', '-f');
      git(side, 'commit', '-q', '-m', name);
      return git(side, 'rev-parse', 'HEAD');
    },
    remoteHead: (branch) => git(bare, 'for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`),
    github: ({ mode, pulls = [], issues = [] }) => {
      git(repository, 'remote', 'set-url', 'origin', 'https://github.com/acme/app.git');
      git(repository, 'remote', 'set-url', '--push', 'origin', bare);
      writeFileSync(join(home, 'github.json'), JSON.stringify({ branches: bare, mode, pulls, issues }));
    },
    gitlab: ({ host = 'gitlab.com', ...state }) => {
      git(repository, 'remote', 'set-url', 'origin', `git@${host}:acme/tools/app.git`);
      git(repository, 'remote', 'set-url', '--push', 'origin', bare);
      writeFileSync(join(home, 'gitlab.json'), JSON.stringify({ branches: bare, requests: [], issues: [], ...state }));
    },
    calls: () => {
      const paths = ['gh', 'glab'].map((name) => join(home, `${name}-calls.jsonl`)).filter((path) => existsSync(path));
      const lines = paths.flatMap((path) => readFileSync(path, 'utf8').trim().split('\n'));
      return lines.map((line) => JSON.parse(line) as ReturnType<ForgeBench['calls']>[number]);
    },
    close: () => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}
