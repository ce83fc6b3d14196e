import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCE = join(import.meta.dirname, '../src');

/**
 * Each file that names a path which only Linux has, and what it does on a system without it. A new use needs a line here, and
 * something that it does elsewhere.
 */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'cli/board/screen.ts': 'takes itself for a program in the foreground',
  'model/programs.ts': 'only a text',
  'runtimes/shared/bubblewrap.ts':
    'seatbelt.ts takes its place on macOS; elsewhere agents without a sandbox of their own have none',
  'runtimes/shared/confinement.ts': 'takes the sandbox of the CLI for one of the system on macOS',
  'squad/sources/session/read-session.ts': 'looks by the path of the folder',
  'substrate/git/git-locks.ts': 'takes no process for a git',
  'substrate/ledger/filesystem-kind.ts': 'takes a FUSE folder for a local one',
  'substrate/ledger/ledger-file.ts': 'gives the cause, and no copy in memory',
  'substrate/ledger/sqlite-ledger.ts': 'lists its open files in /dev/fd',
  'substrate/system/files/find-mount.ts': 'sees no mount in a folder of a task',
  'substrate/system/files/open-confined.ts': 'checks the path before and after it opens it',
  'substrate/system/files/plain-folder.ts': 'checks the path before and after it opens it',
  'substrate/system/files/remove-tree.ts': 'removes by path',
  'substrate/system/process/folder-users.ts': 'sees no process that uses a folder',
  'substrate/system/process/git-cage.ts': 'git has no cage',
  'substrate/system/process/isolation.ts': 'turns have no PID namespace',
  'substrate/system/process/loopback-client.ts': 'sees no client: the server asks for --tunnel',
  'substrate/system/process/proc-source.ts': 'ps-source.ts takes its place',
  'substrate/system/process/process-table.ts': 'pids count in one space',
  'substrate/system/process/system-processes.ts': 'only a text',
  'substrate/system/process/turn-init.sh': 'starts in PID namespaces only',
  'substrate/system/process/turn-wrapper.sh': 'finds processes by ps, and the time by date',
  'substrate/system/process/user-limits.ts': 'knows no limit of processes',
};

/** Without comments. */
function codeOf(name: string): string {
  const text = readFileSync(join(SOURCE, name), 'utf8');
  return name.endsWith('.sh')
    ? text.replaceAll(/^\s*#.*$/gm, '')
    : text.replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
}

const names = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.(?:m?ts|mjs|sh)$/.test(name),
);

describe('what only Linux has', () => {
  it('is used where this list says so, which says what follows elsewhere', () => {
    const used = names.filter((name) => /\/proc\b|\/dev\/shm|["'`/ ]\/sys\//.test(codeOf(name)));
    expect(used.toSorted()).toEqual(Object.keys(ELSEWHERE).toSorted());
  });

  it.each(names.filter((name) => name.endsWith('.sh') && !name.endsWith('/turn-init.sh')))(
    '%s has no setsid, no long flag of GNU and nothing of bash',
    (name) => {
      const code = codeOf(name);
      expect(code.length).toBeGreaterThan(100);
      const own = new Set(['--by-ps', '--isolated']);
      const flags = (code.match(/(?<=\s)--[a-z][a-z-]*/g) ?? []).filter((flag) => !own.has(flag));
      expect(flags).toEqual([]);
      expect(code).not.toMatch(
        /\b(?:setsid|flock|readlink -f|stat -c|date -d|sed -i|local|declare|function|timeout)\b|\[\[|<\(/,
      );
    },
  );
});
