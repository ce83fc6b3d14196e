import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findClient, findRow } from '../../../../src/substrate/system/process/loopback-client.ts';
import { MARKER_VARIABLE } from '../../../../src/substrate/system/process/process-table.ts';

const python = ['/usr/bin/python3', '/usr/local/bin/python3'].find((path) => existsSync(path));

let server: Server;
const arrived: ((socket: Socket) => void)[] = [];
beforeAll(async () => {
  server = createServer((socket) => arrived.shift()?.(socket));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void server.close());

const port = (): number => (server.address() as { port: number }).port;
const next = async (): Promise<Socket> => new Promise((resolve) => void arrived.push(resolve));

/** Connects and stays until its standard input ends; `then`: what it does at once after that. */
const CONNECT = (to: number) => `const s = require('net').connect(${to}, '127.0.0.1'); process.stdin.resume();
  process.stdin.on('end', () => process.exit());`;

/** Who a child is that connects, started like this. */
async function clientOf(
  file: string,
  args: readonly string[],
  options: { readonly env?: Record<string, string>; readonly uid?: number } = {},
): Promise<string> {
  const coming = next();
  const child = spawn(file, args, { stdio: ['pipe', 'ignore', 'inherit'], ...options });
  try {
    const socket = await coming;
    const found = findClient(socket);
    socket.destroy();
    return found;
  } finally {
    child.stdin.end();
    await new Promise((resolve) => child.once('exit', resolve));
  }
}

const node = (environment: Record<string, string>, code = CONNECT(port())) =>
  clientOf(process.execPath, ['-e', code], { env: environment });

describe('who is at the other end of a connection', () => {
  it('this process', async () => {
    const coming = next();
    const mine = connect(port(), '127.0.0.1');
    const socket = await coming;
    expect(findClient(socket)).toBe('own');
    mine.destroy();
    socket.destroy();
  });

  it('a process of this user', async () => {
    expect(await node({})).toBe('own');
  });

  it('a process of a turn', async () => {
    expect(await node({ [MARKER_VARIABLE]: 'greet.1-1' })).toBe('agent');
  });

  it('a child of a turn that has dropped its environment and its session', async () => {
    const inner = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(CONNECT(port()))}],
      { env: {}, detached: true, stdio: 'inherit' }); process.stdin.pause();`;
    expect(await node({ [MARKER_VARIABLE]: 'greet.1-1' }, inner)).toBe('agent');
  });

  it('a turn that hides behind more ancestors than squad looks at', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'squad-client-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const script = join(folder, 'deeper.sh');
    const deepest = `exec '${process.execPath}' -e "${CONNECT(port())}"`;
    writeFileSync(script, `if [ "$1" -gt 0 ]; then /bin/sh "$0" "$(($1 - 1))"; exit; fi\n${deepest}\n`);
    const environment = { [MARKER_VARIABLE]: 'greet.1-1' };
    const first = `/usr/bin/env -i /bin/sh '${script}' 120; exit`;
    expect(await clientOf('/bin/sh', ['-c', first], { env: environment })).toBe('agent');
  });

  it.skipIf(python === undefined)(
    'nobody, where a socket is on its way from a process to itself (left out without python3)',
    async () => {
      const code = `import socket, sys
s = socket.create_connection(('127.0.0.1', ${port()}))
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
s.send(b'x'); socket.send_fds(a, [b'x'], [s.fileno()]); s.close()
sys.stdin.read()
`;
      for (const environment of [{}, { [MARKER_VARIABLE]: 'greet.1-1' }]) {
        const coming = next();
        const child = spawn(python ?? '', ['-c', code], { stdio: ['pipe', 'ignore', 'inherit'], env: environment });
        const socket = await coming;
        // It closes its own end right after it has sent a byte.
        await once(socket, 'data');
        await expect.poll(() => findClient(socket)).toBe('unseen');
        socket.destroy();
        child.stdin.end();
        await once(child, 'exit');
      }
    },
  );

  it('a client that has left', async () => {
    const coming = next();
    const mine = connect(port(), '127.0.0.1');
    const socket = await coming;
    socket.on('error', () => undefined);
    mine.destroy();
    await new Promise((resolve) => mine.once('close', resolve));
    expect(findClient(socket)).toBe('gone');
    socket.destroy();
  });

  it.skipIf(process.getuid?.() !== 0)('another user (left out: only root can start a process of one)', async () => {
    const script = `exec 3<>/dev/tcp/127.0.0.1/${port()}; read -r _`;
    expect(await clientOf('/bin/bash', ['--norc', '-c', script], { env: {}, uid: 65_534 })).toBe('other-user');
  });
});

describe('the row of a client', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0000 100 0 0 10 0',
    '   1: 0100007F:07E8 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 22 1 0000 100 0 0 10 0',
    '   2: 0100007F:C350 0100007F:07E8 01 00000000:00000000 00:00000000 00000000  1001        0 33 1 0000 100 0 0 10 0',
  ].join('\n');
  const socket = { remoteAddress: '127.0.0.1', remotePort: 50_000, localAddress: '127.0.0.1', localPort: 2024 };

  it('is the one whose own end is our other end', () => {
    expect(findRow(table, socket)).toEqual({ user: 1001, inode: 33 });
  });

  it('is the same where the server listens for IPv6 too', () => {
    expect(findRow(table, { ...socket, remoteAddress: '::ffff:127.0.0.1' })).toEqual({ user: 1001, inode: 33 });
  });

  it.each([{ remotePort: 50_001 }, { remoteAddress: '127.0.0.2' }, { remotePort: undefined }, { localPort: 2025 }])(
    'is not there: %j',
    (other) => {
      expect(findRow(table, { ...socket, ...other })).toBeUndefined();
    },
  );
});
