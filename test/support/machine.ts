import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The programs that tests may start by name, as far as the machine has them. No agent's program is among them: a test that needs
 * one puts it on a PATH of its own.
 */
const PROGRAMS = [
  'git sh dash bash busybox mksh zsh fish env bwrap socat strace tmux unshare setpriv python3 npm npx less script mount umount mkfifo ps cc as ld',
  'chromium chromium-browser google-chrome google-chrome-stable',
  'awk base64 basename cat chgrp chmod chown cmp cp cut date dd df diff dirname du echo expr false find flock fold grep gzip head hostname',
  'id kill ln ls md5sum mkdir mktemp mv nice nohup od paste printenv printf pwd readlink realpath rm rmdir sed seq setsid sha256sum',
  'sleep sort split stat stty sync tail tar tee test timeout touch tr true truncate tty uname uniq wc which whoami xargs yes',
].flatMap((line) => line.split(' '));

/** Searched before the PATH of the person, which may have a look-alike first. */
const OF_THE_SYSTEM = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/run/current-system/sw/bin'];

/** Variables that name a test's own settings, and those of vitest. */
const OF_TESTS =
  /^(SQUAD_(TEST|CHAOS|DAMAGE|KEEP|LONG|MUTATION|ORACLE|SECURITY|SIM|SOAK)_|SQUAD_KILLS$|VITEST|TINYPOOL|(NODE_ENV|TEST|MODE|DEV|PROD)$)/;
/** What npm of tests that install packages needs of the person: `test/package/installed.ts` passes it on, and nothing else does. */
const OF_NPM =
  /^(npm_(config_|node_execpath)|NPM_CONFIG_|https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY|NODE_EXTRA_CA_CERTS)/;
export const NPM_SETTINGS = 'SQUAD_TEST_NPM';

/** The Node that tests start, where Node itself reads TypeScript only with an option: `old-node.ts`. */
export const NODE_WITH_TYPES = 'SQUAD_TEST_NODE';

/** Folder of links to the programs above: the PATH of every test. */
const PATH = 'SQUAD_TEST_PATH';

/** Set-up of lanes that share no templates. Returns what removes the home at the end. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'squad-test-'));
  leaveTheMachine(folder);
  return () => rmSync(folder, { recursive: true, force: true });
}

/**
 * Makes this process and all that it starts independent of the machine: a PATH of named programs, a home of its own, UTC, plain
 * text, files that others may read, and no variable of the person.
 */
export function leaveTheMachine(folder: string): void {
  // First: some tests become another user, who reads what is made here.
  process.umask(0o022);
  const { env } = process;
  const home = join(folder, 'home');
  mkdirSync(home);
  const npm = Object.entries(env).filter(([name]) => OF_NPM.test(name));
  const own = {
    [NPM_SETTINGS]: JSON.stringify({ ...Object.fromEntries(npm), HOME: env['HOME'] }),
    [PATH]: programsOf(env['PATH'] ?? ''),
    HOME: home,
    TMPDIR: env['TMPDIR'],
    LANG: 'C.UTF-8',
    TZ: 'UTC',
  };
  for (const name of Object.keys(env)) if (!OF_TESTS.test(name)) delete env[name];
  Object.assign(env, own, { PATH: own[PATH] });
  if (own.TMPDIR === undefined) delete env['TMPDIR'];
  // Node 22.14 to 22.17 run the programs of tests that are TypeScript with this only.
  if (!process.features.typescript) {
    env['NODE_OPTIONS'] = STRIPS_TYPES;
    // Many start a program with an environment of its own.
    env[NODE_WITH_TYPES] = nodeWithTypes(folder);
  }
}

const STRIPS_TYPES = '--experimental-strip-types --disable-warning=ExperimentalWarning';

/** A program that becomes this Node, as it reads TypeScript. */
function nodeWithTypes(folder: string): string {
  const path = join(folder, 'node');
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' ${STRIPS_TYPES} "$@"\n`, { mode: 0o755 });
  return path;
}

/** In the packages of this checkout, where a caged agent sees it, and made once for each machine. */
function programsOf(path: string): string {
  const folders = [...OF_THE_SYSTEM, ...path.split(delimiter).filter((folder) => isAbsolute(folder))];
  const links = PROGRAMS.flatMap((name) => {
    const found = folders.map((folder) => join(folder, name)).find((file) => isProgram(file));
    return found === undefined ? [] : [[name, found] as const];
  });
  links.push(['node', process.execPath]);
  const cache = fileURLToPath(new URL('../../node_modules/.cache/agentsquad', import.meta.url));
  const folder = join(cache, `path-${createHash('sha256').update(JSON.stringify(links)).digest('hex').slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, 'made-'));
  chmodSync(made, 0o755);
  for (const [name, program] of links) symlinkSync(program, join(made, name));
  try {
    renameSync(made, folder);
  } catch {
    // Another process was faster.
    rmSync(made, { recursive: true });
  }
  return folder;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
