// @module-tag all
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MARKER_VARIABLE } from '../../src/substrate/system/process/process-table.ts';
import { openServedRoom } from './served-room.ts';

/* Requests to the real `squad studio` by bytes on sockets: from those who do not know its secret, and from agents who do. */

const python = ['/usr/bin/python3', '/usr/local/bin/python3'].find((path) => existsSync(path));
const withoutPython = python === undefined ? ' (without agents: there is no python3)' : '';
const STUDIO = 'https://smith.langchain.com';

/** All that the server says to these lines. */
async function say(port: string, lines: readonly string[]): Promise<string> {
  const socket = connect(Number(port), '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => void (text += part));
  socket.on('error', () => undefined);
  socket.write([...lines, 'Connection: close', '', ''].join('\r\n'));
  await once(socket, 'close');
  return text.replace(/^Date: .*\r\n/im, '');
}

/** Every file below, with what it has. */
function filesWith(folder: string, text: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.filter((path) => readFileSync(path).includes(text));
}

function processesWith(text: string): string[] {
  const files = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return files.filter((pid) =>
    ['cmdline', 'environ'].some((name) => {
      try {
        return readFileSync(`/proc/${pid}/${name}`).includes(text);
      } catch {
        return false;
      }
    }),
  );
}

/** Asks with its socket on its way to itself while squad looks who has it. */
const IN_FLIGHT = `import socket, sys, time
port, path = int(sys.argv[1]), sys.argv[2]
s = socket.create_connection(('127.0.0.1', port))
head = f'GET {path} HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: close\\r\\n\\r\\n'.encode()
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
s.sendall(head[:-2]); time.sleep(.1)
s.send(head[-2:]); socket.send_fds(a, [b'x'], [s.fileno()]); s.close(); time.sleep(.4)
_, fds, _, _ = socket.recv_fds(b, 1, 1)
s = socket.socket(fileno=fds[0]); s.settimeout(10); got = b''
while True:
    part = s.recv(65536)
    if not part: break
    got += part
print(got.decode('latin1').split('\\r\\n')[0])
`;

/** What a plain request of a process of a turn gets. */
async function askAsAgent(url: string): Promise<string> {
  const code = `fetch(${JSON.stringify(url)}).then(async (r) => process.stdout.write(r.status + ' ' + (await r.text())));`;
  const child = spawn(process.execPath, ['-e', code], {
    env: { [MARKER_VARIABLE]: 'greet.1-1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return (await child.stdout.toArray()).join('').trim();
}

async function inFlight(port: string, path: string): Promise<string> {
  const environment = { [MARKER_VARIABLE]: 'greet.1-1' };
  const child = spawn(python ?? '', ['-c', IN_FLIGHT, port, path], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return (await child.stdout.toArray()).join('').trim();
}

it(
  `who has no secret learns nothing, no spelling of a path passes a rule, and no agent gets in${withoutPython}`,
  { timeout: 60_000 },
  async () => {
    const room = await openServedRoom();
    expect(await room.runAll()).toMatchObject({ code: 0 });
    const { client, child, finished, url } = await room.serve();
    const { port, pathname } = new URL(url);
    const secret = pathname.slice(1);
    expect(secret).toMatch(/^[\w-]{43}$/);
    const host = `Host: 127.0.0.1:${port}`;

    const wrong = `${secret.startsWith('A') ? 'B' : 'A'}${secret.slice(1)}`;
    const paths = ['/', '/ok', '/info', `/${wrong}/info`, `/${secret.slice(0, 42)}/ok`, `//${secret}/ok`];
    const pages = [[], [`Origin: ${STUDIO}`], ['Origin: https://evil.example'], ['Sec-Fetch-Site: cross-site']];
    const requests = paths.flatMap((path) =>
      ['GET', 'POST', 'OPTIONS', 'DELETE'].flatMap((method) =>
        pages.map((page) => [`${method} ${path} HTTP/1.1`, host, ...page]),
      ),
    );
    requests.push(
      ['GET /ok HTTP/1.1', 'Host: evil.example'],
      ['PROPFIND /ok HTTP/1.1', host, 'Content-Type: text/plain'],
    );
    const answers = new Set(await Promise.all(requests.map(async (lines) => say(port, lines))));
    expect([...answers]).toEqual([expect.stringMatching(/^HTTP\/1\.1 404 Not Found\r\n[^]*\r\n\r\nNot Found\n$/)]);
    expect([...answers][0]).not.toMatch(/access-control|squad|langgraph/i);
    const socket = ['GET /threads/x/stream/events HTTP/1.1', host, 'Upgrade: websocket', 'Connection: Upgrade'];
    expect(await say(port, socket)).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
    expect(await say(port, ['CONNECT evil.example:443 HTTP/1.1', host])).toBe('');

    const [thread] = await client.threads.search();
    const id = thread!.thread_id;
    for (const path of [
      `/threads/${id}`,
      `/./threads/${id}`,
      `/x/../threads/${id}`,
      `//threads/${id}`,
      `/threads/./${id}`,
      `/threads/%2e/${id}`,
      `/%2e%2e/threads/${id}`,
      `/threads/x/../${id}`,
      `/threads\\${id}`,
      `/threads/${id.toUpperCase()}`,
      `/threads/${id}/`,
      `/threads/${id}/.`,
      `/threads/${id}/x/..`,
      `/%74hreads/${id}`,
      `/../${secret}/../threads/${id}`,
    ]) {
      const said = await say(port, [`DELETE /${secret}${path} HTTP/1.1`, host]);
      expect.soft(said, path).toMatch(/^HTTP\/1\.1 422 [^]*squad drop make-things/);
      const copied = await say(port, [`POST /${secret}${path.replace(/[/.]*$/, '')}/copy HTTP/1.1`, host]);
      if (!path.endsWith('..')) expect.soft(copied, path).toMatch(/^HTTP\/1\.1 422 [^]*squad fork make-things/);
    }
    for (const path of [
      '/internal/truncate',
      '/x/../internal/truncate',
      '//internal/truncate',
      '/%69nternal/./truncate',
    ]) {
      const body = ['Content-Type: application/json', 'Content-Length: 0'];
      expect
        .soft(await say(port, [`POST /${secret}${path} HTTP/1.1`, host, ...body]), path)
        .toMatch(/^HTTP\/1\.1 403 /);
    }
    expect(await client.threads.get(id)).toMatchObject({ thread_id: id });

    const refused = '403 An agent of squad may not speak to squad studio, which starts and steers agents.';
    expect(await askAsAgent(`${url}/ok`)).toBe(refused);
    if (python !== undefined) {
      const tries = await Promise.all(['/ok', '/ok', '/info'].map(async (path) => inFlight(port, `/${secret}${path}`)));
      expect(tries).toEqual(Array(3).fill('HTTP/1.1 403 Forbidden'));
      expect(await inFlight(port, '/ok')).toBe('HTTP/1.1 404 Not Found');
    }

    // Where an agent could look for it.
    expect([filesWith(room.root, secret), processesWith(secret)]).toEqual([[], []]);
    const second = await room.run(['studio', '--json', '--port', port]);
    expect([second.code, second.lines[0]?.['message']]).toEqual([
      75,
      `squad studio serves ${room.repository} on port ${port} already, as process ${child.pid}`,
    ]);
    expect(second.stdout).not.toContain(secret);
    child.kill('SIGTERM');
    expect(await finished).toMatchObject({ code: 0, stderr: '' });
    const tunnelled = await room.serve('--tunnel');
    expect(await askAsAgent(`${tunnelled.url}/ok`)).toBe(refused);
    tunnelled.child.kill('SIGTERM');
    await tunnelled.finished;
  },
);
