import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, connect, type AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CLI_ENTRY } from './cli-entry.ts';

const SSHD = '/usr/sbin/sshd';
/** As root, sshd wants an empty folder of this name, which a service makes at its start. */
const SEPARATION = '/run/sshd';

/** Why no test here can use ssh; undefined: it can. */
export function noSsh(): string | undefined {
  if (!existsSync(SSHD)) return 'openssh-server is not installed';
  return existsSync('/usr/bin/ssh') ? undefined : 'openssh-client is not installed';
}

/** A real sshd on loopback with keys and settings of its own, in which this user has another home. */
export interface SshServer {
  readonly port: number;
  /** A folder for PATH, with an `ssh` that knows the key and the host. */
  readonly bin: string;
  /** Of its logins. */
  readonly home: string;
  /** Arms each squad that a login starts from now on. */
  arm(failpoints: string): void;
  /** What each login was asked to run. */
  asked(): string[];
  stop(): Promise<void>;
}

export async function startSshServer(root: string, home: string): Promise<SshServer> {
  const folder = join(root, 'sshd');
  const [bin, remoteBin] = [join(folder, 'bin'), join(home, 'bin')];
  for (const path of [bin, remoteBin]) mkdirSync(path, { recursive: true });
  if (userInfo().uid === 0 && !existsSync(SEPARATION)) mkdirSync(SEPARATION, { mode: 0o755 });
  for (const name of ['host', 'user'])
    execFileSync('/usr/bin/ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', join(folder, name)]);
  const port = await freePort();
  writeFileSync(join(folder, 'authorized'), readFileSync(join(folder, 'user.pub')));
  const hostKey = readFileSync(join(folder, 'host.pub'), 'utf8').split(' ').slice(0, 2).join(' ');
  writeFileSync(join(folder, 'known'), `[127.0.0.1]:${port} ${hostKey}\n`);
  const login = join(folder, 'login');
  const log = join(folder, 'asked');
  writeFileSync(log, '');
  program(login, [
    `printf '%s\\n' "$SSH_ORIGINAL_COMMAND" >> '${log}'`,
    `exec env -i HOME='${home}' SHELL=/bin/sh PATH=/usr/bin:/bin USER="$USER" /bin/sh -c "$SSH_ORIGINAL_COMMAND"`,
  ]);
  writeFileSync(
    join(home, '.profile'),
    `echo 'A line of a login'\nPATH='${remoteBin}':"$PATH"\nXDG_STATE_HOME='${join(home, 'state')}'\nexport PATH XDG_STATE_HOME\n`,
  );
  const armed = join(folder, 'armed');
  program(join(remoteBin, 'squad'), [
    `if [ -f '${armed}' ]; then SQUAD_FAILPOINTS="$(cat '${armed}')"; export SQUAD_FAILPOINTS; fi`,
    `exec '${process.execPath}' '${CLI_ENTRY}' "$@"`,
  ]);
  writeFileSync(
    join(folder, 'ssh_config'),
    `IdentityFile ${join(folder, 'user')}\nIdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile ${join(folder, 'known')}\nGlobalKnownHostsFile /dev/null\n`,
  );
  program(join(bin, 'ssh'), [`exec /usr/bin/ssh -F '${join(folder, 'ssh_config')}' "$@"`]);
  const config = join(folder, 'sshd_config');
  writeFileSync(
    config,
    [
      ...[`Port ${port}`, 'ListenAddress 127.0.0.1', `HostKey ${join(folder, 'host')}`, 'PidFile none'],
      ...[`AuthorizedKeysFile ${join(folder, 'authorized')}`, 'StrictModes no', 'UsePAM no', 'PrintMotd no'],
      ...['PasswordAuthentication no', 'KbdInteractiveAuthentication no', 'PermitRootLogin yes'],
      ...[`ForceCommand ${login}`, 'MaxStartups 100'],
      '',
    ].join('\n'),
  );
  const server = spawn(SSHD, ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  server.stderr.on('data', (more: Buffer) => void (said += more.toString()));
  const ended = new Promise<void>((resolve) => void server.once('close', () => resolve()));
  for (let look = 0; !(await answers(port)); look += 1) {
    if (look === 300 || server.exitCode !== null) throw new Error(`sshd does not answer: ${said}`);
    await pause(50);
  }
  return {
    ...{ port, bin, home },
    arm: (failpoints) => writeFileSync(armed, failpoints),
    asked: () => readFileSync(log, 'utf8').split('\n').slice(0, -1),
    stop: async () => {
      server.kill();
      await ended;
    },
  };
}

function program(path: string, lines: readonly string[]): void {
  writeFileSync(path, `#!/bin/sh\n${lines.join('\n')}\n`);
  chmodSync(path, 0o755);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

async function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => {
      resolve(true);
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
  });
}
