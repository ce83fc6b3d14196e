import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../src/model/turn-request.ts';
import { isSlug } from '../../src/model/slug.ts';
import { settingsSchema } from '../../src/model/settings.ts';
import { compose } from '../../src/engine/compose.ts';
import { describeRuntimes } from '../../src/engine/runtime-choice.ts';
import { resolveRuntimes } from '../../src/squad/preflight/runtimes.ts';
import { readInstructions } from '../../src/squad/preflight/read-input.ts';
import { createScriptedAdapter } from '../../src/runtimes/scripted/index.ts';
import { instructionsHash } from '../../src/runtimes/shared/session.ts';
import { removeSecrets, writeLaunchFiles } from '../../src/runtimes/shared/launch-files.ts';
import { confine, isWithin } from '../../src/substrate/system/files/confine.ts';
import { pathProblem } from '../../src/text/path-problem.ts';
import { requireName } from '../../src/substrate/git/git-call.ts';
import { definition, RecordedRun } from '../view/report/support.ts';
import { createRandom } from '../support/random.ts';
import { filesOf } from '../support/run-files.ts';
import { testHost } from '../support/test-host.ts';
import { HOSTILE_PATHS, PLAIN_PATHS } from './paths.ts';
import { newStateOf, stateOf } from '../support/state.ts';

const ROOT = '/srv/state/root';

let room: string;
beforeEach(() => {
  room = realpathSync(mkdtempSync(join(tmpdir(), 'squad-s2-')));
});
afterEach(() => rmSync(room, { recursive: true, force: true }));

describe('S2: paths from outside', () => {
  it('S2: lists at least 200 hostile paths, each once', () => {
    const all = HOSTILE_PATHS.map(([path]) => path);
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThanOrEqual(200);
  });

  it.each(HOSTILE_PATHS.map(([path, why]) => [JSON.stringify(path).slice(0, 60), path, why] as const))(
    'S2: refuses %s',
    (_title, path, why) => {
      expect(pathProblem(path)).toBe(why);
      expect(() => confine(ROOT, path)).toThrow(
        expect.objectContaining({
          code: 'bad-input',
          message: `the path ${JSON.stringify(path.slice(0, 80))} ${why}`,
          next: 'Name a file below the folder, by its plain path from there.',
        }),
      );
    },
  );

  it.each(PLAIN_PATHS)('S2: takes %j', (path) => {
    expect(pathProblem(path)).toBeUndefined();
    expect(confine(ROOT, path)).toBe(`${ROOT}/${path}`);
  });

  it('S2: 10,000 fuzzed paths lead nowhere else', () => {
    const random = createRandom(2);
    const parts = [...PARTS, ...HOSTILE_PATHS.map(([path]) => path).filter((path) => path.length < 40)];
    let taken = 0;
    for (let trial = 0; trial < 10_000; trial += 1) {
      const path = fuzzed(random, parts);
      let made: string;
      try {
        made = confine(ROOT, path);
      } catch {
        continue;
      }
      taken += 1;
      expect(escapes(made, path), JSON.stringify(path)).toBe(false);
    }
    // What is refused wholesale proves nothing.
    expect(taken).toBeGreaterThan(300);
  });

  it.each([
    ['/a/b', '/a/b/c', true],
    ['/a/b', '/a/b', true],
    ['/a/b', '/a/bc', false],
    ['/a/b', '/a', false],
    ['/a/b', '/', false],
    ['/a/b', '/c', false],
    ['/a/b', '/a/b/..c', true],
    ['/a/b', '/a/b/...', true],
    ['/', '/a', true],
  ])('S2: within %s is %s: %s', (root, path, is) => {
    expect(isWithin(root, path)).toBe(is);
  });
});

describe('S2: names', () => {
  const HOSTILE_NAMES = [
    '',
    '-x',
    '--x=',
    '.',
    '..',
    'a/b',
    'a\\b',
    'a b',
    'A',
    'ä',
    'a\n',
    'a\0',
    '@file',
    'a..b',
    '~',
    'é',
  ];

  it.each(HOSTILE_NAMES)('S2: %j names no role, run, task or attempt', (name) => {
    expect(isSlug(name)).toBe(false);
    expect(() => requireName(name)).toThrow(expect.objectContaining({ code: 'bad-input' }));
    expect(settingsSchema.safeParse({ agents: [{ name, role: 'builder', runtime: 'claude' }] }).success).toBe(false);
    expect(settingsSchema.safeParse({ agents: [{ name: 'a', role: name, runtime: 'claude' }] }).success).toBe(false);
  });

  it('S2: 32 characters make a name, 33 do not', () => {
    expect(isSlug('a'.repeat(32))).toBe(true);
    expect(isSlug('a'.repeat(33))).toBe(false);
  });
});

describe('S2: where paths from outside are used', () => {
  const escapees = ['../out.md', '/out.md', 'a/../../out.md', 'x\0.md', 'C:out.md', 'aux.md', 'a./b', 'e\u0301.md'];

  it('S2: files of a playbook stay in their folder', async () => {
    const files = [...escapees, 'history.md', 'deep/er.md'].map((path) => ({ path, text: 'x' }));
    const run = new RecordedRun(definition({ criteria: [] }), newStateOf(room));
    const written = filesOf(run, { files: () => files }).files;
    written.changed(run.read().board);
    await written.end('done');
    expect(readdirSync(room)).toEqual(['.git']);
    const folder = join(stateOf(room), 'runs', run.id);
    expect(listing(folder)).toEqual(['files', 'files/deep', 'files/deep/er.md', 'files/history.md', 'objective.md']);
  });

  it.each(escapees)('S2: instructions are no file at %j', async (path) => {
    writeFileSync(join(room, 'out.md'), 'SECRET');
    mkdirSync(join(room, 'repository', 'a'), { recursive: true });
    const read = readInstructions(join(room, 'repository'), path, { file: 'squad.yaml', line: 1 });
    await expect(read).rejects.toMatchObject({ code: 'bad-input' });
  });

  it.each(['../../out', '../out', 'a/../../out'])('S2: squad.yaml names no program or script at %s', async (path) => {
    const host = testHost(room);
    const described = describeRuntimes(compose(host));
    for (const runtimes of [
      { scripted: { env: [], config: { script: path } } },
      { claude: { env: [], command: path } },
    ]) {
      await expect(resolveRuntimes(runtimes, described, room, host)).rejects.toMatchObject({ code: 'bad-input' });
    }
    const fine = { scripted: { env: [], config: { script: './demo/script.json' } } };
    expect(await resolveRuntimes(fine, described, room, host)).toEqual({
      scripted: { env: [], config: { script: join(room, 'demo/script.json') } },
    });
  });

  it('S2: files of a launch stay in its folder', async () => {
    const command = { ...EMPTY_COMMAND, files: [{ name: '../out', text: 'x' }] };
    await expect(writeLaunchFiles(command, join(room, 'turn'))).rejects.toMatchObject({ code: 'bad-input' });
    const links = [{ name: '../link', to: '/etc' }];
    const linking = { ...EMPTY_COMMAND, files: [], links };
    await expect(writeLaunchFiles(linking, join(room, 'turn'))).rejects.toMatchObject({ code: 'bad-input' });
    mkdirSync(join(room, 'turn'));
    await writeLaunchFiles({ ...linking, links: [{ name: 'link', to: '/store/notes' }] }, join(room, 'turn'));
    expect(readlinkSync(join(room, 'turn', 'link'))).toBe('/store/notes');
    writeFileSync(join(room, 'out'), 'kept');
    writeFileSync(join(room, 'turn', 'launch.json'), JSON.stringify({ home: '/x', secrets: ['../out'] }));
    await expect(removeSecrets(join(room, 'turn'))).rejects.toMatchObject({ code: 'bad-input' });
    expect(readFileSync(join(room, 'out'), 'utf8')).toBe('kept');
  });

  it('S2: a session whose id is a path is refused before anything is written', async () => {
    const { environment, userHome, platform, architecture, isRoot } = testHost(room);
    const adapter = createScriptedAdapter({
      ...{ environment, userHome, platform, architecture, isRoot, allowEnvironment: [] },
      stateDirectory: room,
      binary: process.execPath,
      config: { script: join(room, 'script.json') },
    });
    const workspace = { path: room };
    const session = { runtime: 'scripted', home: join(room, 'home'), workspace: room };
    const commandFor = async (id: string) => {
      const request: TurnRequest = {
        ...{ turnId: 'turn-1', workspace, prompt: 'x', instructions: '', access: { level: 'edit' }, mcp: [] },
        limits: DEFAULT_TURN_LIMITS,
        session: { ...session, id, instructionsHash: instructionsHash('') },
      };
      return adapter.command(request, await adapter.lookUp(request, room));
    };
    expect(await commandFor('../precious')).toMatchObject({
      failure: { kind: 'session-not-found', setting: 'session' },
    });
    expect(await commandFor('0123456789abcdef01234567')).toMatchObject({ type: 'command' });
  });

  it('S2: no other module makes a path from its parts by hand where they come from outside', () => {
    const source = fileURLToPath(new URL('../../src', import.meta.url));
    const wrong = listing(source)
      .filter((name) => name.endsWith('.ts') && !name.startsWith('substrate/files/'))
      .filter((name) =>
        /real(?:path)?\([^)]*join\(|startsWith\(`\$\{[^}]*\}\$\{sep\}`\)/.test(
          readFileSync(join(source, name), 'utf8'),
        ),
      );
    expect(wrong).toEqual(['substrate/git/removal.ts']);
  });
});

const EMPTY_COMMAND = {
  ...{ type: 'command', binary: '/bin/true', args: [], env: {}, stdin: '', home: '/x', folders: [] },
} as unknown as Parameters<typeof writeLaunchFiles>[0];

const PARTS = [
  'a',
  'file.md',
  '..',
  '.',
  '/',
  '\\',
  '\0',
  ' ',
  '%2e%2e',
  '%2f',
  '~',
  'C:',
  'con',
  'nul.txt',
  'é',
  'e\u0301',
  '．．',
  '／',
  '‥',
  '…',
  '\u202e',
  '\ud800',
  'x'.repeat(60),
  ':',
  '*',
  '-',
  '--',
  '@',
  '\n',
  '\t',
  '.git',
  '..\u200b',
];

function fuzzed(random: () => number, parts: readonly string[]): string {
  const count = 1 + Math.floor(random() * 5);
  const pick = () => parts[Math.floor(random() * parts.length)] ?? '';
  const glue = ['/', '/', '', '\\', '//'];
  let path = '';
  for (let index = 0; index < count; index += 1) {
    const plain = random() < 0.6;
    path += (plain ? ['a', 'b.md', 'sub', 'x-1'][Math.floor(random() * 4)] : pick()) ?? '';
    if (index + 1 < count) path += glue[Math.floor(random() * (plain ? 2 : glue.length))] ?? '';
  }
  return path;
}

/** Said again in another way: by what the system would make of it, on POSIX and on Windows. */
function escapes(made: string, path: string): boolean {
  const outside = !made.startsWith(ROOT + sep) || resolve(made) !== made || /[\0\\:]/.test(made);
  const windows = path.split(/[\\/]/).some((part) => part === '..' || /[. ]$/.test(part) || part === '');
  return outside || windows || made.normalize('NFC') !== made;
}

function listing(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
}
