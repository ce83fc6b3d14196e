import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { McpServer } from '../../../src/model/turn-request.ts';
import type { Bubblewrap } from '../../../src/runtimes/shared/bubblewrap.ts';
import { confined, createConfiner } from '../../../src/runtimes/shared/confine.ts';
import { removeSecrets, writeLaunchFiles } from '../../../src/runtimes/shared/launch-files.ts';
import { outsideServers, unstarted } from '../../../src/runtimes/shared/outside-servers.ts';
import '../../support/on-disk.ts';

const environment = { PATH: process.env['PATH'] ?? '' };
const ipcmk = ['/usr/bin/ipcmk', '/bin/ipcmk'].find((path) => existsSync(path));
let root = '';
let bubblewrap: Bubblewrap;

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  { binary, args }: { binary: string; args: readonly string[] },
  interruptAt?: (stdout: string) => boolean,
): Promise<Ran> {
  const child = spawn(binary, args, { cwd: root, env: environment, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr, interrupted] = ['', '', false];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    if (interrupted || interruptAt?.(stdout) !== true || child.pid === undefined) return;
    interrupted = true;
    process.kill(-child.pid, 'SIGINT');
  });
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  // Whatever the shell left behind in the background.
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nothing is left.
  }
  await setTimeout(50);
  return { code, stdout, stderr };
}

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-cage-')));
  for (const name of ['open', 'closed', 'secret', 'turn']) mkdirSync(join(root, name));
  writeFileSync(join(root, 'secret', 'key'), 'canary');
  writeFileSync(join(root, 'token'), 'canary');
  const found = await createConfiner({ platform: process.platform, environment }, async (binary, args) => {
    const { code, stderr } = await run({ binary, args });
    return code === 0 ? undefined : stderr;
  })();
  if (found.kind !== 'bubblewrap') throw new Error(`these tests need bubblewrap: ${JSON.stringify(found)}`);
  bubblewrap = found;
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));

const inCage = (script: string) =>
  confined(
    bubblewrap,
    {
      writable: [join(root, 'open'), join(root, 'never-made')],
      hidden: [
        { path: join(root, 'secret'), isFolder: true },
        { path: join(root, 'token'), isFolder: false },
      ],
      cwd: join(root, 'open'),
    },
    '/bin/sh',
    ['-c', script],
  );

describe('a cage', () => {
  it('lets its program write only where it may, and hides what is hidden', async () => {
    const { stdout, code } = await run(
      inCage(
        `pwd; echo x >made && echo made; echo x >../closed/made || echo no; mkdir ../never-made || echo no; ls ../secret; cat ../token; exit 3`,
      ),
    );
    expect([code, stdout.split('\n')]).toEqual([3, [join(root, 'open'), 'made', 'no', 'no', '']]);
    expect([existsSync(join(root, 'open', 'made')), existsSync(join(root, 'closed', 'made'))]).toEqual([true, false]);
  });

  it('cannot be opened from inside, also by root', async () => {
    const tries = [
      'mount -o remount,rw,bind / && echo opened',
      `mount --bind ${join(root, 'open')} ${join(root, 'closed')} && echo opened`,
      `unshare --user --mount --map-root-user sh -c 'mount -o remount,rw,bind /; touch ${join(root, 'closed', 'x')}' && echo opened`,
      'umount -l / && echo opened',
      `umount -l ${join(root, 'token')} && cat ${join(root, 'token')}`,
    ];
    const { stdout } = await run(inCage(`${tries.map((one) => `(${one}) 2>/dev/null`).join('; ')}; echo end`));
    expect(stdout).toBe('end\n');
    expect(existsSync(join(root, 'closed', 'x'))).toBe(false);
  });

  it('has memory, queues, a host name and control groups of its own', async () => {
    expect(bubblewrap.namespaces).toContain('--unshare-ipc');
    const given = bubblewrap.namespaces.map((option) => option.replace('--unshare-', ''));
    const links = [...given, 'pid', 'user', 'mnt'].map((name) => `/proc/self/ns/${name}`);
    const outside = links.map((link) => readlinkSync(link));
    const { stdout } = await run(inCage(`readlink ${links.join(' ')}`));
    const inside = stdout.trim().split('\n');
    expect(inside).toHaveLength(links.length);
    expect(inside.filter((one) => outside.includes(one))).toEqual([]);
  });

  it.skipIf(ipcmk === undefined)(
    'neither sees System V memory of other programs nor leaves any behind (left out without ipcmk)',
    async () => {
      // Of no other program of this machine.
      const SIZE = '12345';
      const made = (command: string): string => /id: (\d+)/.exec(command)?.[1] ?? '';
      const id = made(execFileSync(ipcmk ?? '', ['-M', SIZE], { encoding: 'utf8' }));
      try {
        const seen = 'tail -n +2 /proc/sysvipc/shm | wc -l';
        const segments = () =>
          readFileSync('/proc/sysvipc/shm', 'utf8')
            .split('\n')
            .filter((row) => row.trim().split(/\s+/)[3] === SIZE);
        expect(segments()).toHaveLength(1);
        const { stdout } = await run(inCage(`${seen}; ${ipcmk} -M ${SIZE} >/dev/null; ${seen}`));
        expect(stdout.trim().split(/\s+/)).toEqual(['0', '1']);
        expect(segments()).toHaveLength(1);
      } finally {
        execFileSync((ipcmk ?? '').replace('ipcmk', 'ipcrm'), ['-m', id]);
      }
    },
  );

  it('does without a namespace that this machine does not give, and only without that', async () => {
    const found = await createConfiner({ platform: process.platform, environment }, (_, args) =>
      Promise.resolve(args.includes('--unshare-cgroup') ? 'no such namespace' : undefined),
    )();
    expect(found).toMatchObject({ namespaces: ['--unshare-ipc', '--unshare-uts'] });
    const none = await createConfiner({ platform: process.platform, environment }, () => Promise.resolve('no'))();
    expect(none).toEqual({ kind: 'none', problem: 'no', next: 'install bubblewrap, and allow user namespaces' });
  });

  it('hides what is hidden in a folder that is readable or writable, and shows what is readable in what is hidden', async () => {
    const at = (...path: string[]) => join(root, 'layers', ...path);
    const files = [
      'free',
      'up/seen',
      'up/shut/gone',
      'up/shut/open/seen',
      'up/shut/open/shut/gone',
      'pen/seen',
      'pen/shut/gone',
    ];
    for (const file of files) {
      mkdirSync(join(at(file), '..'), { recursive: true });
      writeFileSync(at(file), 'x');
    }
    const folders = (...paths: string[]) => paths.map((path) => ({ path: at(path), isFolder: true }));
    const cage = {
      // In an order that is wrong everywhere.
      hidden: folders('up/shut/open/shut', 'pen/shut', 'up/shut', '.'),
      readable: [at('up/shut/open'), at('up')],
      writable: [at('pen')],
      cwd: '/',
    };
    const { stdout } = await run(confined(bubblewrap, cage, '/bin/sh', ['-c', `cd ${at('.')}; find . -type f | sort`]));
    expect(stdout.trim().split('\n')).toEqual(['./pen/seen', './up/seen', './up/shut/open/seen']);
  });

  it('passes a signal to the group on to its program, and its exit status out', async () => {
    const script =
      'trap "echo heard; exit 7" INT; echo ready; n=0; while [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done';
    const { stdout, code } = await run(inCage(script), (said) => said.includes('ready'));
    expect([code, stdout]).toEqual([7, 'ready\nheard\n']);
  });
});

describe('a server outside of the cage', () => {
  const server = (name: string, command: string, args: string[], env: Record<string, string> = {}): McpServer => ({
    name,
    transport: { type: 'stdio', command, args, env },
  });

  async function talk(turn: string, servers: McpServer[], script: (calls: string[]) => string): Promise<Ran> {
    const directory = join(root, 'turn', turn);
    mkdirSync(directory);
    const outside = outsideServers(servers, directory, ['LEFT_OUT']);
    const quoted = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`;
    const calls = outside.servers.map(({ command, args }) => [command, ...args].map(quoted).join(' '));
    for (const { name, text } of outside.files) writeFileSync(join(directory, name), text);
    return run(outside.before(inCage(script(calls))));
  }

  it('writes what the agent may not, and is reached by pipes from inside', async () => {
    const odd = `it's "odd" $HOME\n*`;
    const outside = `echo "$1|$ODD" >"${join(root, 'closed')}/$2"; while read -r line; do echo "got $line"; done`;
    const { stdout, code } = await talk(
      'talks',
      [
        server('one', '/bin/sh', ['-c', outside, 'sh', odd, 'one'], { ODD: odd }),
        server('two', '/bin/sh', ['-c', outside, 'sh', 'second', 'two'], { ODD: 'x' }),
        server('idle', '/bin/sh', ['-c', `touch ${join(root, 'closed', 'idle')}`]),
      ],
      ([one, two]) => `printf 'a\\nb\\n' | ${one}; printf 'c\\n' | ${two}; echo over`,
    );
    expect([code, stdout]).toEqual([0, 'got a\ngot b\ngot c\nover\n']);
    expect(readFileSync(join(root, 'closed', 'one'), 'utf8')).toBe(`${odd}|${odd}\n`);
    expect(readFileSync(join(root, 'closed', 'two'), 'utf8')).toBe('second|x\n');
    expect(existsSync(join(root, 'closed', 'idle'))).toBe(false);
  });

  it('that cannot be started gives the agent the end of its input, and is named', async () => {
    const missing = { ...server('lost', '/nonexistent/server', []), required: true };
    const { stdout, stderr } = await talk('missing', [missing], ([lost]) => `sleep 0.2 | ${lost}; echo over`);
    expect(stdout).toBe('over\n');
    expect(unstarted([missing], stderr)?.message).toContain('the MCP server lost did not start');
    expect(unstarted([{ ...missing, required: false }], stderr)).toBeUndefined();
  });
});

describe('a file in the home of an agent', () => {
  it('is written and removed in place, whatever links an agent left', async () => {
    const home = join(root, 'agent-home');
    const [away, directory] = [join(root, 'away'), join(root, 'turn', 'files')];
    for (const folder of [home, away, directory]) mkdirSync(folder);
    writeFileSync(join(away, 'config.json'), 'mine');
    symlinkSync(away, join(home, '.agent'));
    const launch = {
      ...({ type: 'command', binary: '/bin/true', args: [], env: {}, stdin: '', home, folders: [home] } as const),
      files: [
        { name: '.agent/deep/config.json', text: 'ours', secret: true, inHome: true },
        { name: '.agent/config.json', text: 'ours too', inHome: true },
      ],
    };
    await writeLaunchFiles(launch, directory);
    expect(readFileSync(join(home, '.agent', 'config.json'), 'utf8')).toBe('ours too');
    expect(readFileSync(join(away, 'config.json'), 'utf8')).toBe('mine');
    rmSync(join(home, '.agent', 'deep'), { recursive: true });
    symlinkSync(away, join(home, '.agent', 'deep'));
    await removeSecrets(directory);
    expect(readFileSync(join(away, 'config.json'), 'utf8')).toBe('mine');
    await writeLaunchFiles(launch, directory);
    expect(lstatSync(join(home, '.agent', 'deep')).isDirectory()).toBe(true);
    await removeSecrets(directory);
    expect(existsSync(join(home, '.agent', 'deep', 'config.json'))).toBe(false);
    expect(existsSync(join(home, '.agent', 'config.json'))).toBe(true);
  });
});

describe('a file of a conversation', () => {
  it('is replaced as a whole by each turn, and removed by the turn that it is of', async () => {
    const [first, second] = ['1', '2'].map((name) => join(root, 'turns', name));
    if (first === undefined || second === undefined) throw new Error('no turns');
    for (const folder of [first, second]) mkdirSync(folder, { recursive: true });
    const [settings, servers] = ['settings', 'servers'].map((name) => join(root, 'sessions', `s-${name}`));
    if (settings === undefined || servers === undefined) throw new Error('no files');
    const launch = (text: string) => ({
      ...({ type: 'command', binary: '/bin/true', args: [], env: {}, stdin: '', home: '/x', folders: [] } as const),
      files: [
        { name: 'settings', text, at: settings },
        { name: 'servers', text: `${text}: secret`, secret: true, at: servers },
      ],
    });
    await writeLaunchFiles(launch('one'), first);
    expect(readFileSync(servers, 'utf8')).toBe('one: secret');
    expect(statSync(servers).mode & 0o777).toBe(0o600);
    // An engine that was killed leaves them, and a turn that it began to start leaves a half.
    writeFileSync(`${servers}.2`, 'half');
    await writeLaunchFiles(launch('two'), second);
    // Late: the turn that they are of now still needs them.
    await removeSecrets(first);
    expect([settings, servers].map((path) => readFileSync(path, 'utf8'))).toEqual(['two', 'two: secret']);
    await removeSecrets(second);
    expect(readdirSync(join(root, 'sessions'))).toEqual([]);
    // The record of both turns.
    expect([first, second].map((folder) => readdirSync(folder))).toEqual([
      ['launch.json', 'settings'],
      ['launch.json', 'settings'],
    ]);
    expect(readFileSync(join(first, 'settings'), 'utf8')).toBe('one');
  });
});
