// @module-tag all
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compose } from '../../src/engine/compose.ts';
import { createArmory, equipmentPlaces } from '../../src/engine/armory.ts';
import type { Attempt } from '../../src/model/attempt.ts';
import { contentOf } from '../../src/model/content.ts';
import type { BoundAgent } from '../../src/model/run.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../src/model/turn-request.ts';
import { storeContents } from '../../src/substrate/system/files/content-store.ts';
import { installChaosAgent } from '../support/chaos-agent.ts';
import { fakeAcpArguments } from '../support/fake-acp-agent.ts';
import { createRepository } from '../support/git.ts';
import { ALL } from '../support/lane.ts';
import { fixture } from '../support/runtime-bench.ts';
import { testHost } from '../support/test-host.ts';
import '../support/on-disk.ts';

/** A server of the person's, which says where it runs. What one in a cage says elsewhere goes with the cage. */
const server = (log: string) => `#!/usr/bin/env node
const fs = require('node:fs');
const { env, argv } = process;
const said = { cwd: process.cwd(), found: fs.readdirSync('.'), folder: env.SQUAD_TASK_FOLDER, home: env.HOME, words: argv.slice(2) };
const line = JSON.stringify(said) + '\\n';
try { fs.appendFileSync(${JSON.stringify(log)}, line); } catch {}
if (said.cwd === said.folder) fs.appendFileSync('caged.log', line);
const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'desk', version: '1' } };
if (!process.argv[1].includes('check')) require('node:readline').createInterface({ input: process.stdin }).on('line', (text) => {
  const { id } = JSON.parse(text);
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
});
`;

/** Starts what the folder or one above it has under this name, as npx does, and else what is installed. */
const LAUNCHER = `#!/bin/sh
at=$PWD
while :; do
  [ -x "$at/node_modules/.bin/$1" ] && exec "$at/node_modules/.bin/$1"
  [ "$at" = / ] && break
  at=$(dirname "$at")
done
exec "$@"
`;

/** What an agent can leave in its folder for whatever looks there for a program. */
const PLANTED = [
  'desk',
  'desk-check',
  'launch',
  'node',
  'sh',
  'env',
  'mkdir',
  'tail',
  'printf',
  'dirname',
  'bwrap',
  'cat',
];
const FOLDERS = ['.', 'bin', 'node_modules/.bin'];

function plant(folder: string, marks: string): void {
  const script = `#!/bin/sh\n/bin/echo "$0" >>'${marks}'\n`;
  const executable = (path: string, text = script) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { mode: 0o755 });
    chmodSync(join(folder, path), 0o755);
  };
  for (const below of FOLDERS) for (const name of PLANTED) executable(join(below, name));
  for (const file of ['tools/h.sh', 'h.sh', 'tools/check']) executable(file);
  executable('tools/t.js', `require('node:fs').appendFileSync('${marks}', 't.js\\n');\n`);
  executable('node_modules/fs/index.js', `require('node:child_process').execSync('echo fs >>${marks}');\n`);
  const command = `echo npm >>'${marks}'`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { desk: command, preinstall: command } }));
  writeFileSync(
    join(folder, '.npmrc'),
    `script-shell=${join(folder, 'sh')}\nnode-options=--require ${join(folder, 'tools/t.js')}\n`,
  );
}

const MCP: NonNullable<BoundAgent['mcp']> = [
  { name: 'plain', command: 'desk', args: ['--root={folder}', '{folder}/src'] },
  { name: 'copy', command: 'node', args: ['tools/t.js'] },
  { name: 'shell', command: 'sh', args: ['-c', 'exec "desk" in-shell'] },
  { name: 'launched', command: 'launch', args: ['desk'] },
];
const HOOKS: NonNullable<BoundAgent['hooks']> = [
  { on: 'turn-started', run: 'desk-check {folder}' },
  { on: 'turn-ended', run: 'sh "tools/h.sh" && env desk-check' },
];

type Said = { cwd: string; found: string[]; folder: string; home: string; words: string[] };

async function openRoom(agent: Pick<BoundAgent, 'mcp' | 'hooks'>, programs = '/usr/bin:/bin') {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-planted-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const at = (...names: string[]) => join(root, ...names);
  const [log, marks, task] = [at('said.jsonl'), at('marks'), at('state/squad/repository/run/task')];
  for (const folder of ['programs', 'armory', 'home', 'repository/.squad/turns/a-1'])
    mkdirSync(at(folder), { recursive: true });
  const program = (name: string, text: string) => writeFileSync(at('programs', name), text, { mode: 0o755 });
  for (const name of ['desk', 'desk-check']) program(name, server(log));
  program('launch', LAUNCHER);
  mkdirSync(dirname(task), { recursive: true });
  createRepository(task);
  plant(task, marks);
  const copies = [
    { path: 'tools/t.js', text: server(log) },
    { path: 'tools/h.sh', text: 'test -z "$(ls -A)" && exec desk-check from-the-copy\n' },
  ].map(({ path, text }) => ({
    path,
    content: contentOf([{ path: basename(path), bytes: Buffer.from(text), executable: false }]),
  }));
  await storeContents(
    at('armory'),
    copies.map(({ content }) => content),
  );
  const path = ['node_modules/.bin', '.', 'bin', '', at('programs'), dirname(process.execPath), programs].join(':');
  const keys = { ANTHROPIC_API_KEY: 'none', CODEX_API_KEY: 'none' };
  const host = testHost(at('home'), {
    environment: { PATH: path, HOME: at('home'), ...keys },
    stateDirectory: at('state/squad'),
  });
  const composition = compose(host);
  const bound = {
    name: 'ann',
    files: copies.map(({ path: file, content: { hash } }) => ({ path: file, hash })),
    ...agent,
  };
  const places = equipmentPlaces(at('state/squad'), 'run-1');
  const armory = createArmory({
    definition: { agents: [bound as unknown as BoundAgent] },
    ...{ host, taskCage: composition.taskCage, mail: { wire: (_, request) => request } },
    ...{ folder: at('armory'), turns: at('repository/.squad/turns'), placeOf: places.of },
  });
  const attempt = { id: 'a-1', kind: 'turn', agent: 'ann', process: null } as Attempt;
  const request: TurnRequest = {
    ...{ turnId: 'b'.repeat(24), workspace: { path: task, repository: true }, prompt: 'go', instructions: '', mcp: [] },
    ...{ access: { level: 'edit' }, limits: { ...DEFAULT_TURN_LIMITS, wallMs: 60_000, idleMs: 20_000 } },
  };
  return {
    ...{ at, task, marks, home: at('home'), composition, places, place: places.of('a-1') },
    take: async (runtime: string, choice: object) => {
      await places.make('a-1');
      expect(await armory.refusal(attempt)).toBe(undefined);
      const prepared = await armory.equip(attempt, request);
      if (prepared.type === 'refused') return prepared.failure.message;
      const directory = at('repository/.squad/turns/a-1');
      const turn = composition
        .runtime(runtime, choice)
        .start(prepared.request, { directory, onSpawned: () => Promise.resolve() });
      const { failure } = await turn.result;
      return failure?.message;
    },
    said: (file = log): Said[] =>
      existsSync(file)
        ? readFileSync(file, 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line) as Said)
        : [],
  };
}

type Room = Awaited<ReturnType<typeof openRoom>>;

/** Programs that start servers and hooks as the real ones do, or, for ACP and scripts, squad's own. */
const RUNTIMES: Readonly<Record<string, (room: Room) => object>> = {
  claude: (room) => ({ binary: startsEquipment(room, 'claude') }),
  codex: (room) => ({ binary: startsEquipment(room, 'codex') }),
  'acp/fake': () => ({
    binary: process.execPath,
    config: { args: fakeAcpArguments({ turns: [{ steps: [{ say: 'done' }] }] }), read: [dirname(fixture('agents'))] },
  }),
  scripted: (room) => {
    const script = room.at('script.json');
    writeFileSync(script, JSON.stringify({ turns: [{ steps: [{ answer: 'done' }] }] }));
    return { config: { script } };
  },
};

function startsEquipment({ at }: Room, name: 'claude' | 'codex'): string {
  const chaos = installChaosAgent(at('chaos'), { turns: [{}] });
  const path = at('programs', name);
  const words = [process.execPath, fixture('agents/starts-equipment.mjs'), chaos.path(name)].map((word) => `'${word}'`);
  const asked = `case "$1" in exec | -p) ;; *) exec ${words[2]} "$@" ;; esac\n`;
  writeFileSync(path, `#!/bin/sh\n${asked}exec ${words.join(' ')} "$@"\n`, { mode: 0o755 });
  return path;
}

const machine = compose(testHost('/', { environment: { PATH: process.env['PATH'] } }));
const tried = { access: { level: 'edit' }, workspace: { path: '/' }, directory: '/turn', readable: [] } as const;
const hasCage = (await machine.taskCage(tried)).type === 'caged';
const NO_CAGE = hasCage ? '' : ' (bubblewrap cannot confine anything here)';

it.each(Object.keys(RUNTIMES))(
  'S7: %s starts nothing of what an agent has left in its folder, and each server and hook in an empty one',
  { timeout: 60_000 },
  async (runtime) => {
    const hooks = runtime === 'claude' ? { hooks: HOOKS } : {};
    const room = await openRoom({ mcp: MCP, ...hooks });
    await room.take(runtime, RUNTIMES[runtime]?.(room) ?? {});
    expect(existsSync(room.marks) ? readFileSync(room.marks, 'utf8') : '').toBe('');
    const said = room.said();
    expect(said.filter(({ cwd, found }) => !cwd.startsWith(`${room.place}/`) || found.length > 0)).toEqual([]);
    expect(new Set(said.map(({ folder, home }) => `${folder} ${home}`))).toEqual(
      new Set([`${room.task} ${room.home}`]),
    );
    const words = said.map((one) => one.words.join(' ')).toSorted();
    const own = ['', '', 'in-shell', `--root=${room.task} ${room.task}/src`];
    const ofHooks = runtime === 'claude' ? ['', 'from-the-copy', room.task] : [];
    expect(words).toEqual([...own, ...ofHooks].toSorted());
    expect(new Set(said.map(({ cwd }) => cwd)).size).toBe(runtime === 'claude' ? said.length - 1 : said.length);
  },
);

/** The cage does not depend on the runtime, so each commit tries one. */
describe.each(Object.keys(RUNTIMES))('in a cage, by %s', (runtime) => {
  const lane = runtime === 'claude' ? { timeout: 60_000 } : { timeout: 60_000, ...ALL };
  it.skipIf(!hasCage)(`S7: starts what has to be in the agent’s folder${NO_CAGE}`, lane, async () => {
    const spoil = 'cat "$1/home/secret.txt" >seen.txt; echo out >"$1/out"; echo in >in.txt; exec desk caged';
    const room = await openRoom({
      mcp: [{ name: 'caged', command: 'sh', args: ['-c', spoil, 'sh', '{folder}/../../../../..'], cwd: 'task' }],
    });
    writeFileSync(room.at('home', 'secret.txt'), 'mine');
    await room.take(runtime, RUNTIMES[runtime]?.(room) ?? {});
    expect(room.said()).toEqual([]);
    const [said] = room.said(join(room.task, 'caged.log'));
    expect(said).toMatchObject({ cwd: room.task, folder: room.task, home: '/tmp', words: ['caged'] });
    expect(readFileSync(join(room.task, 'in.txt'), 'utf8')).toBe('in\n');
    expect(readFileSync(join(room.task, 'seen.txt'), 'utf8')).toBe('');
    expect([existsSync(room.at('out')), existsSync(room.marks)]).toEqual([false, false]);
  });
});

it('S7: where nothing can confine it, the turn is refused by name, and nothing starts', async () => {
  const room = await openRoom({ hooks: [{ on: 'turn-ended', run: 'npm test', cwd: 'task' }] }, '/nowhere');
  const refused = await room.take('claude', RUNTIMES['claude']?.(room) ?? {});
  const where = 'ann: hooks: it starts in the agent’s folder (`cwd: task`), where nothing can confine it here';
  expect(refused).toContain(`${where}: bubblewrap is not installed. To go on, install bubblewrap`);
  expect(existsSync(room.at('repository/.squad/turns/a-1/stdout'))).toBe(false);
});

it('S7: a place is empty at each start, and gone with its turn', async () => {
  const room = await openRoom({});
  await room.take('scripted', RUNTIMES['scripted']?.(room) ?? {});
  writeFileSync(join(room.place, 'left'), '');
  await room.places.make('a-1');
  expect([readdirSync(room.place), statSync(room.place).mode & 0o777]).toEqual([[], 0o700]);
  await room.places.make('a-2');
  room.places.remove('a-1');
  await expect.poll(() => readdirSync(dirname(room.place))).toEqual(['a-2']);
  room.places.remove('a-2');
  await expect.poll(() => existsSync(dirname(room.place))).toBe(false);
});
