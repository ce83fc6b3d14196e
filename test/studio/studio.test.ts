import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { git } from '../support/git.ts';
import { openServedRoom } from './served-room.ts';
import { stateOf } from '../support/state.ts';
import { ALL } from '../support/lane.ts';

/** Everything in the folder, with the contents of files, but what SQLite keeps beside an open database for each of its readers. */
function contentsOf(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true });
  return Object.fromEntries(
    paths.flatMap((entry) => {
      const path = join(entry.parentPath, entry.name);
      if (/\/\.squad\/\w+\.db-(?:shm|wal)$/.test(path)) return [];
      const text = entry.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'no file';
      return [[path, text]];
    }),
  );
}

it('serves the runs of a repository, leaves no byte in it, and ends when it is asked to', ALL, async () => {
  const served = await openServedRoom();
  const { repository, root } = served;
  writeFileSync(join(repository, '.env'), 'SQUAD_STUDIO_CANARY=read\n');
  expect(await served.runAll()).toMatchObject({ code: 0 });
  const before = [git(repository, 'status', '--ignored', '--short'), contentsOf(repository)];
  const { client, child, finished, url } = await served.serve();

  const [thread] = await client.threads.search();
  expect(thread?.metadata).toMatchObject({ graph_id: 'squad', name: 'make-things', playbook: 'delivery' });
  const { values, metadata } = await client.threads.getState<{ runId: string; phase: string }>(thread!.thread_id);
  expect(values).toMatchObject({ runId: thread?.thread_id, phase: 'finished' });
  expect(metadata).toMatchObject({ squad: { name: 'make-things', driven: false } });
  const [assistant] = await client.assistants.search();
  expect(assistant).toMatchObject({ graph_id: 'squad', name: 'squad' });
  // It shows what the server was started with, where a `.env` had reached it.
  expect(readFileSync(`/proc/${child.pid}/environ`, 'utf8')).not.toContain('CANARY');

  const foreign = { headers: { origin: 'https://evil.example' } };
  const refused = await fetch(`${url}/threads`, { method: 'POST', ...foreign });
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringMatching(/^squad studio takes .*\.\n$/)]);
  const copied = await fetch(`${url}/threads/${thread?.thread_id}/copy`, { method: 'POST' });
  expect([copied.status, await copied.text()]).toEqual([422, expect.stringContaining('squad fork make-things')]);
  await expect(client.threads.delete(thread!.thread_id)).rejects.toThrow('squad drop make-things');

  child.kill('SIGTERM');
  expect(await finished).toMatchObject({ code: 0, stderr: '' });
  expect([git(repository, 'status', '--ignored', '--short'), contentsOf(repository)]).toEqual(before);
  expect(readdirSync(join(root, 'state', 'squad', 'studio'))).toEqual([]);
});

it('starts where nothing ever ran, and leaves nothing there', ALL, async () => {
  const served = await openServedRoom();
  const { client, child, finished } = await served.serve();
  expect(await client.threads.search()).toEqual([]);
  child.kill('SIGINT');
  expect(await finished).toMatchObject({ code: 0, stderr: '' });
  expect(existsSync(stateOf(served.repository))).toBe(false);
});

it('says which port is taken, and what to type', ALL, async () => {
  const served = await openServedRoom();
  const other = createServer();
  await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as { port: number };
  const { code, lines } = await served.start(['studio', '--json', '--port', String(port)]).finished;
  const message = `another program listens on port ${port}`;
  const next = `Take another: \`squad studio --port ${port + 1}\`.`;
  expect([code, lines]).toEqual([75, [{ type: 'error', code: 'port-busy', exitCode: 75, message, next }]]);
  expect(readdirSync(join(served.root, 'state', 'squad', 'studio'))).toEqual([]);
});

it.each([
  [['--port', '70000'], '70000 is not a port'],
  [['--port', 'x'], 'x is not a whole number'],
  [['--origin', 'localhost:3000'], 'localhost:3000 is not the origin of a page'],
  [['--origin', 'http://localhost:3000/'], 'is not the origin of a page; for example http://localhost:3000'],
  [['--origin', 'null'], 'null is not the origin of a page'],
])('refuses %j', async (words, said) => {
  const served = await openServedRoom();
  const { code, lines } = await served.run(['studio', '--json', ...words]);
  expect([code, lines[0]?.['message']]).toEqual([2, expect.stringContaining(said)]);
});

it('does not serve an agent of a run', async () => {
  const served = await openServedRoom();
  const { code, stderr } = await served.run(['studio'], { SQUAD_TURN_ID: 'one.1-1' });
  expect([code, stderr]).toEqual([65, expect.stringContaining('a turn cannot serve runs')]);
});
