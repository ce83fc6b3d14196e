import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { ProgramKind } from '../../src/model/programs.ts';
import { CLI_ENTRY } from './cli-entry.ts';

const OPTIONS = ['-f', '-z', '-qq', '-v', '-s', '4000', '-e', 'signal=none', '-e', 'trace=execve'];

/** Why no trace can be made here; undefined: one can. Faster with a filter in the kernel, which not every machine lets it use. */
export const NO_TRACE: string | undefined = whyNone();

function whyNone(): string | undefined {
  if (process.platform !== 'linux') return 'strace is for Linux only';
  const { status, error } = spawnSync('strace', [...OPTIONS, '-o', '/dev/null', 'true']);
  if (error !== undefined) return 'strace is not installed';
  return status === 0 ? undefined : 'strace may not trace processes here';
}

/** A program that was started. */
export interface Started {
  readonly path: string;
  readonly args: readonly string[];
  /** The marker of the turn or of the short program that it belongs to. */
  readonly marker: string | undefined;
}

export interface Traced {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly started: readonly Started[];
}

/** The command line under strace. `until` ends it by SIGINT once its output fits. */
export async function traceCommand(
  room: { readonly root: string; readonly repository: string },
  args: readonly string[],
  { cwd = room.repository, until }: { readonly cwd?: string; readonly until?: RegExp } = {},
): Promise<Traced> {
  const file = join(room.root, `trace-${args[0]}-${process.hrtime.bigint()}`);
  const child = spawn('strace', [...OPTIONS, '--seccomp-bpf', '-o', file, process.execPath, CLI_ENTRY, ...args], {
    cwd,
    // Whoever has `.` on the PATH must not start what a repository puts there.
    env: { PATH: `.:${process.env['PATH']}`, HOME: room.root, XDG_STATE_HOME: join(room.root, 'state') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  let isAsked = false;
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
      if (isAsked || until?.test(said.stdout + said.stderr) !== true) return;
      isAsked = true;
      const [pid = ''] = readFileSync(file, 'utf8').split(' ', 1);
      process.kill(Number(pid), 'SIGINT');
    });
  }
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  return { code, ...said, started: startedIn(readFileSync(file, 'utf8')) };
}

/** What the text of a trace says was started. */
export function startedIn(text: string): Started[] {
  return text.split('\n').flatMap((line) => {
    const found = /^\d+ +execve\((".*?"), \[(.*?[^\\]"|)\](?:\.\.\.)?, (\[.*\]|0x\w+.*)\) = 0$/.exec(line);
    if (found === null) return line.includes('execve(') ? [{ path: line, args: [], marker: undefined }] : [];
    const [, path = '', args = '', environment = ''] = found;
    const marker = /"SQUAD_TURN_ID=([^"]*)"/.exec(environment)?.[1];
    return [{ path: wordsOf(path)[0] ?? '', args: wordsOf(args), marker }];
  });
}

function wordsOf(list: string): string[] {
  return [...list.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) =>
    word.replaceAll(/\\(n|t|"|\\)/g, (_, sign: string) => ({ n: '\n', t: '\t' })[sign] ?? sign),
  );
}

/** Tools of `turn-wrapper.sh` and of nothing else outside of a turn. */
const TOOLS = ['mv', 'sleep', 'find', 'grep', 'tr', 'rm', 'date', 'sh'];
const FOLDERS = /^(\/usr)?\/s?bin$|^\/run\/current-system\/sw\/bin$/;
const isOfTheSystem = (path: string): boolean =>
  FOLDERS.test(dirname(path)) || dirname(path) === process.env['SQUAD_TEST_PATH'];

/** The row of the table that allows this start; undefined: none does. */
export function rowOf({ path, args, marker }: Started): ProgramKind | undefined {
  const name = basename(path);
  const [, first = '', ...rest] = args;
  const isTurn = marker !== undefined && !marker.startsWith('helper-');
  if (name === 'sh' && first.endsWith('/turn-wrapper.sh')) return 'turn-wrapper';
  if (name === 'unshare' || name === 'setpriv') return 'namespace';
  if (name === 'sh' && first.endsWith('/turn-init.sh')) return 'namespace';
  // The trial of a namespace.
  if (name === 'sh' && first === '-c' && rest[0]?.startsWith('trap : TERM; kill -TERM 0; read -r pid') === true)
    return 'namespace';
  if (isTurn && TOOLS.includes(name) && isOfTheSystem(path)) return 'turn-wrapper';
  if (isTurn) return 'agents-own';
  if (name === 'node' && rest.concat(first).some((word) => word.endsWith('/helper-host.mjs'))) return 'helper-host';
  if (name === 'node' && rest.concat(first).includes(CLI_ENTRY)) return 'squad';
  if (name === 'git' && first === '--version') return 'git-version';
  if (name === 'git' && /\/git-core\//.test(path)) return 'git-part';
  if (/^git-(upload-pack|receive-pack|remote-https?)$/.test(name) && /\/git-core\//.test(path)) return 'git-part';
  if (name === 'git' && isHardened(args)) return args.includes('push') ? 'git-publish' : 'git-store';
  // git's own way to reach a repository by path, and the command in the place of `core.alternateRefsCommand`.
  if (name === 'sh' && first === '-c' && rest[0]?.startsWith("git-upload-pack '") === true) return 'git-part';
  if (name === 'true' && isOfTheSystem(path)) return 'git-part';
  if (name === 'sync' && first === '-f') return 'flush';
  if (name === 'bwrap') return isHardened(args) ? 'git-caged' : 'cage-trial';
  if (name === 'sh' && first === '-c' && rest[0] === '--') return 'notify';
  return undefined;
}

/** The settings that each git of squad has to have. */
function isHardened(args: readonly string[]): boolean {
  return ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'core.pager=cat', 'core.editor=true'].every(
    (setting) => args[args.indexOf(setting) - 1] === '-c',
  );
}
