// @module-tag all
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openMachine } from '../../src/engine/machine.ts';
import { decideKeep, type Keep, type KeepSetting } from '../../src/model/keep.ts';
import { openWorkspace } from '../../src/squad/open-workspace.ts';
import { lookForTidying, tidy } from '../../src/squad/tidy.ts';
import { armFailpoints, FAILPOINTS } from '../../src/substrate/system/failpoint.ts';
import { createSystemProcesses } from '../../src/substrate/system/process/system-processes.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { commandRoom } from '../cli/room.ts';
import type { EngineRoom } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { some, spread, SPREAD } from '../support/lane.ts';
import { createRandom } from '../support/random.ts';
import { newStateOf } from '../support/state.ts';
import { testHost } from '../support/test-host.ts';
import { definition, RecordedRun } from '../view/report/support.ts';

const DAY = 24 * 60 * 60 * 1000;
const NOW = Date.UTC(2026, 10, 28);
const POINTS = FAILPOINTS.filter((name) => name.startsWith('keep.'));
const LONG = '{"type":"text"}\n'.repeat(1000);

afterEach(() => armFailpoints(''));

type Way = 'ended' | 'open' | 'live' | 'asked';

interface Made {
  readonly name: string;
  readonly way: Way;
  readonly turns: readonly string[];
  readonly refs: readonly string[];
}

/** A run that ended so many days ago, with refs of commits that main has, and of others that only the refs have. */
function makeRun(room: EngineRoom, name: string, way: Way, days: number, random = createRandom(1)): Made {
  const { repository } = room;
  const run = new RecordedRun({ ...definition(), name }, newStateOf(repository));
  run.clock.time = NOW - days * DAY;
  run.allocate(git(repository, 'rev-parse', 'main')).turn('a', 1, 'bob', {});
  if (way === 'live') run.turn('b', 1, 'bob');
  if (way !== 'open') run.publish().writeEnd();
  run.ledger.releaseLease(run.lease, 1);
  if (way === 'asked') run.ledger.command(run.id, 'retry', { task: 'a' }, 'me');
  run.close();
  const turns = [join(run.directory, 'turns', `${name}.a-1`)];
  for (const turn of turns) {
    mkdirSync(turn, { recursive: true });
    writeFileSync(join(turn, 'stdout'), LONG);
  }
  mkdirSync(join(run.directory, 'runs', run.id), { recursive: true });
  writeFileSync(join(run.directory, 'runs', run.id, 'report.md'), '# Report\n');
  const merged = git(repository, 'rev-parse', 'main');
  const tree = git(repository, 'rev-parse', 'main^{tree}');
  const only = git(repository, 'commit-tree', tree, '-p', 'main', '-m', `only in ${name}`);
  const owner = join(room.root, `owner-${name}`);
  writeFileSync(owner, run.id);
  const claim = git(repository, 'hash-object', '-w', owner);
  const pick = (): string => (random() < 0.6 ? merged : only);
  const refs = [
    [`refs/squad/${name}/owner.id`, claim],
    ...['a-1', 'a-2', 'a-left'].flatMap((one) => (random() < 0.8 ? [[`refs/squad/${name}/${one}`, pick()]] : [])),
    ...(random() < 0.8 ? [[`refs/heads/squad/${name}`, pick()]] : []),
  ];
  for (const [ref = '', at = ''] of refs) git(repository, 'update-ref', ref, at);
  return { name, way, turns, refs: refs.map(([ref = '']) => ref) };
}

async function workspaceOf(room: EngineRoom) {
  const host = testHost(room.root, { workingDirectory: room.repository, configHome: join(room.root, '.config') });
  const clock = { ...createSystemClock(), now: () => NOW };
  const composition = { ...openMachine(host), clock, processes: createSystemProcesses({ clock }) };
  return openWorkspace({ host, composition });
}

async function tidyIn(room: EngineRoom, keep: Keep) {
  const workspace = await workspaceOf(room);
  return tidy(workspace, await lookForTidying(workspace, keep), async (work) => work());
}

function refsIn({ repository }: EngineRoom): Map<string, string> {
  const lines = git(repository, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/squad', 'refs/heads/squad');
  return new Map(lines.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ') as [string, string]])));
}

/** By git alone. */
function isInMain({ repository }: EngineRoom, commit: string): boolean {
  return git(repository, 'merge-base', commit, 'main') === commit;
}

const settings = (random: () => number): KeepSetting => ({
  output: ['0d', '30d', 'all'][Math.floor(random() * 3)] ?? 'all',
  refs: ['0d', '90d', 'all'][Math.floor(random() * 3)] ?? 'all',
  branches: random() < 0.5 ? 'all' : 'until-merged',
  runs: ['all', 1, '40d'][Math.floor(random() * 3)] ?? 'all',
});

describe('a tidying', () => {
  it(
    'takes no work that is not merged and nothing of a run that can continue, whatever stops it and whenever',
    {
      ...SPREAD,
      timeout: 600_000,
    },
    async () => {
      for (let seed = 1; seed <= spread(4, 400, 40); seed += 1) {
        const random = createRandom(seed);
        const room = commandRoom();
        const ways: readonly Way[] = ['ended', 'ended', 'ended', 'open', 'live', 'asked'];
        const made = Array.from({ length: 4 }, (_, index) =>
          makeRun(
            room,
            `run-${index}`,
            ways[Math.floor(random() * ways.length)] ?? 'open',
            Math.floor(random() * 120),
            random,
          ),
        );
        const onBranch = made.find(({ name, refs }) => refs.includes(`refs/heads/squad/${name}`));
        if (onBranch !== undefined) git(room.repository, 'switch', '--quiet', `squad/${onBranch.name}`);
        const before = refsIn(room);
        const keep = decideKeep(undefined, settings(random));
        const point = POINTS[Math.floor(random() * POINTS.length)];
        armFailpoints(`${point}:${1 + Math.floor(random() * 3)}=throw`);
        await tidyIn(room, keep).catch((error: unknown) => expect(String(error)).toContain('failpoint'));
        armFailpoints('');
        await tidyIn(room, keep);
        expect(await tidyIn(room, keep), `seed ${seed}: a second one finds nothing`).toEqual([]);

        const after = refsIn(room);
        for (const [ref, at] of before) {
          const run = made.find(({ refs }) => refs.includes(ref));
          const isNote = ref.endsWith('owner.id');
          const mayGo =
            run?.way === 'ended' &&
            (isNote || isInMain(room, at)) &&
            run.name !== (ref.includes('heads') ? onBranch?.name : '');
          if (!mayGo) expect(after.get(ref), `seed ${seed}: ${ref}`).toBe(at);
          // The name is claimed for as long as it has anything.
          const others = [...after.keys()].filter(
            (one) => run?.refs.includes(one) === true && !one.endsWith('owner.id'),
          );
          if (isNote && others.length > 0) expect(after.get(ref), `seed ${seed}: ${ref}`).toBe(at);
        }
        for (const { name, way, turns } of made) {
          if (way === 'ended') continue;
          for (const turn of turns) expect(readdirSync(turn), `seed ${seed}: ${name}`).toEqual(['stdout']);
        }
      }
    },
  );

  it.for(some(POINTS, 2))('is finished by the next one after a kill at %s', SPREAD, async (point) => {
    const room = commandRoom();
    makeRun(room, 'old', 'ended', 4000, () => 0.1);
    makeRun(room, 'new', 'ended', (Date.now() - NOW) / -DAY, () => 0.1);
    writeFileSync(join(room.repository, 'squad.yaml'), 'keep: { runs: 1, branches: until-merged }\n');
    const killed = await room.run(['clean', '--due'], { SQUAD_FAILPOINTS: `${point}=kill` });
    expect(killed.signal).toBe('SIGKILL');
    expect((await room.run(['clean', '--due'])).code).toBe(0);
    expect((await room.run(['clean', '--due'])).stdout).toBe('nothing to clean\n');
    const state = newStateOf(room.repository);
    expect(readdirSync(join(state, 'turns'))).toEqual(['new.a-1']);
    expect(readdirSync(join(state, 'turns', 'new.a-1'))).toEqual(['stdout.gz']);
    expect([...refsIn(room).keys()].filter((ref) => ref.includes('/old'))).toEqual([]);
    expect(existsSync(join(state, 'runs', 'id-old'))).toBe(false);
  });

  it('compresses the output of a finished run, which is read as before', async () => {
    const room = commandRoom();
    const { turns } = makeRun(room, 'one', 'ended', 1);
    const [turn = ''] = turns;
    expect(await tidyIn(room, decideKeep(undefined, undefined))).toMatchObject([{ run: 'one', output: 0, packed: 1 }]);
    expect(readdirSync(turn)).toEqual(['stdout.gz']);
    const lines: unknown[] = [];
    const { processes } = (await workspaceOf(room)).composition;
    for await (const line of processes.tail(join(turn, 'stdout'), AbortSignal.abort())) lines.push(line);
    expect(lines).toHaveLength(1000);
  });

  it('drops output and refs at their age, and the rest of the runs beyond a number', async () => {
    const room = commandRoom();
    const ended = makeRun(room, 'old', 'ended', 100, () => 0.1);
    makeRun(room, 'new', 'ended', 31, () => 0.1);
    expect(await tidyIn(room, decideKeep(undefined, undefined))).toMatchObject([
      { run: 'old', output: 1, refs: ended.refs.filter((ref) => /a-|left/.test(ref)), branches: [], files: null },
      { run: 'new', output: 1, refs: [], files: null },
    ]);
    expect(await tidyIn(room, decideKeep(undefined, { runs: 1, branches: 'until-merged' }))).toMatchObject([
      { run: 'old', refs: ['refs/squad/old/owner.id'], branches: [{ ref: 'refs/heads/squad/old' }] },
      { run: 'new', refs: [], branches: [{ ref: 'refs/heads/squad/new' }] },
    ]);
    expect(existsSync(join(newStateOf(room.repository), 'runs', 'id-old', 'report.md'))).toBe(false);
    expect(existsSync(join(newStateOf(room.repository), 'runs', 'id-new', 'report.md'))).toBe(true);
  });

  it('is listed by a dry run, and a status says when it comes', async () => {
    const room = commandRoom();
    makeRun(room, 'old', 'ended', 4000, () => 0.1);
    const { stdout } = await room.run(['status']);
    expect(stdout).toContain(
      '  tidying  raw output of 1 run, 3 refs of merged work: after the next run, or now with `squad clean`',
    );
    const would = await room.run(['clean', '--due', '--dry-run']);
    expect(would.stdout).toContain('would remove  prompts and raw output of 1 turn of old');
    expect((await room.run(['clean', '--due', '--json'])).lines).toMatchObject([
      { type: 'clean', dryRun: false, tidied: [{ run: 'old', output: 1, files: null }] },
    ]);
    expect((await room.run(['clean', '--due'])).stdout).toBe('nothing to clean\n');
    expect((await room.run(['status'])).stdout).not.toContain('tidying');
    expect((await room.run(['clean', 'old', '--due'])).code).toBe(2);
  });

  it('is refused with the line and an example where `keep` says nothing that counts', async () => {
    const room = commandRoom();
    makeRun(room, 'one', 'ended', 4000);
    for (const [keep, problem] of [
      ['{ output: 30 }', 'keep.output must be text, not 30'],
      ['{ output: soon }', 'keep.output: “soon” is neither a number of days, such as 30d, nor all'],
      ['{ runs: 0 }', 'keep.runs'],
      ['{ outputs: 30d }', 'unknown key “outputs” in keep; did you mean “output”?'],
      ['30d', 'keep: “30d” is neither a list of paths nor a mapping of what squad keeps'],
      ['{ branches: merged }', 'keep.branches must be all or until-merged'],
    ]) {
      writeFileSync(join(room.repository, 'squad.yaml'), `version: 1\nkeep: ${keep}\n`);
      const { code, stderr } = await room.run(['clean', '--due']);
      expect(code).toBe(65);
      expect(stderr).toContain('squad.yaml:2:');
      expect(stderr).toContain(problem);
      expect(stderr).toContain('keep: { output: 30d, refs: 90d, runs: all }');
    }
    expect(refsIn(room).size).toBeGreaterThan(0);
  });
});
