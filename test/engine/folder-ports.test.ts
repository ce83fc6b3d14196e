import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createFolderPorts } from '../../src/engine/folder-ports.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';

const open: Server[] = [];
const rooms: string[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
  for (const room of rooms.splice(0)) rmSync(room, { recursive: true });
});

async function listen(port: number, host = '127.0.0.1'): Promise<void> {
  const server = createServer();
  open.push(server);
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
}

function openPorts() {
  const room = mkdtempSync(join(tmpdir(), 'squad-ports-'));
  rooms.push(room);
  const said: string[] = [];
  const again = () => createFolderPorts({ file: join(room, 'ports.json'), onTaken: (text) => said.push(text) });
  const ports = again();
  return { again, said, ports };
}

const folder = (path: string) => ({ path, repository: true });
const attempt = (path: string) => ({
  kind: 'check' as const,
  request: JSON.stringify({
    ...{ turnId: 't', workspace: folder(path), prompt: 'x', instructions: '', access: { level: 'edit' }, mcp: [] },
    limits: { wallMs: 1, idleMs: 1, retryMs: 1, maxOutputBytes: 1 },
  }),
});
const failed = (text: string): TurnResult => ({
  ...{ outcome: 'failed', text, denials: [], stderrTail: '', durationMs: 0 },
  failure: { kind: 'bad-output', message: 'exit 1', mayHaveActed: true },
});

describe('the port of a folder', () => {
  it('is another one for each folder, and stays with it in the next engine, even while something of its own listens', async () => {
    const { ports, again } = openPorts();
    const names = Array.from({ length: 40 }, (_, index) => `/folders/${index}`);
    const given = await Promise.all(names.map(async (name) => (await ports.place(folder(name))).port ?? 0));
    expect(new Set(given).size).toBe(names.length);
    await listen(given[0] ?? 0);
    const next = again();
    expect(await Promise.all(names.map(async (name) => (await next.place(folder(name))).port))).toEqual(given);
    expect(await ports.place({ path: '/empty' })).toEqual({ path: '/empty' });
  });

  it.each(['127.0.0.1', '0.0.0.0', '::'])('is not one on which something listens at %s', async (host) => {
    const first = (await openPorts().ports.place(folder('/folders/a'))).port ?? 0;
    await listen(first, host);
    const other = (await openPorts().ports.place(folder('/folders/a'))).port;
    expect(other).not.toBe(first);
  });

  it('is replaced once a command says that it is taken, if that is so', async () => {
    const { ports, said } = openPorts();
    const { port = 0 } = await ports.place(folder('/folders/a'));
    const taken = failed(`Error: listen EADDRINUSE: address already in use :::${port}`);
    const next = async (result: TurnResult): Promise<number | undefined> => {
      ports.heard(attempt('/folders/a'), result);
      return (await ports.place(folder('/folders/a'))).port;
    };
    expect(await next(taken)).toBe(port);
    await listen(port);
    expect(await next(failed(`address already in use :::${port}1`))).toBe(port);
    expect(await next(failed('1 test failed'))).toBe(port);
    expect(said).toEqual([]);
    const other = await next(taken);
    expect(other).not.toBe(port);
    expect(said).toEqual([`another program has port ${port} of /folders/a, which gets ${other} from now on`]);
    expect((await ports.place(folder('/folders/a'))).port).toBe(other);
  });

  it('is refused with the next step if none is free', async () => {
    const { file } = { file: join(tmpdir(), 'none', 'ports.json') };
    const ports = createFolderPorts({ file, onTaken: () => undefined, isFree: async () => false });
    await expect(ports.place(folder('/folders/a'))).rejects.toThrow(
      'no port from 20000 to 29999 is free on this machine',
    );
  });
});
