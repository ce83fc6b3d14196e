// @module-tag all
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { openCheckpoints } from '../../src/engine/checkpoints.ts';
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

/**
 * `failed`: it ended so. `paused`: an engine left it before its end. `uncommitted`: it ended, and a folder has work that no commit has.
 * `fork`: it ended, with the work of another run as its own.
 */
type Way = 'ended' | 'failed' | 'open' | 'live' | 'asked' | 'paused' | 'uncommitted' | 'fork';

const ENDED: readonly Way[] = ['ended', 'failed', 'fork'];

interface Made {
  readonly name: string;
  readonly way: Way;
  readonly turns: readonly string[];
  readonly refs: readonly string[];
  /** Files that only this run has. */
  readonly files: readonly string[];
}

/** A run that ended so many days ago, with refs of commits that main has, and of others that only the refs have. */
function makeRun(room: EngineRoom, name: string, way: Way, days: number, random = createRandom(1)): Made {
  const { repository } = room;
  const run = new RecordedRun({ ...definition(), name }, newStateOf(repository));
  run.clock.time = NOW - days * DAY;
  run.allocate(git(repository, 'rev-parse', 'main')).turn('a', 1, 'bob', {});
  if (way === 'live') run.turn('b', 1, 'bob');
  if (way === 'paused') run.decide('stop', 'paused');
  else if (way !== 'open') run.publish().writeEnd();
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
  const copy = join(run.directory, 'copies', run.id, 'hash');
  const draft = join(run.directory, 'work', name, 'a', 'draft.txt');
  const files = [...(random() < 0.7 ? [copy] : []), ...(way === 'uncommitted' ? [draft] : [])];
  for (const path of files) {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, name);
  }
  putCheckpoints(run.directory, run.id);
  const merged = git(repository, 'rev-parse', 'main');
  const tree = git(repository, 'rev-parse', 'main^{tree}');
  const parents = git(repository, 'for-each-ref', '--format=%(objectname)', 'refs/squad/*/a-*').split('\n');
  const own = git(repository, 'commit-tree', tree, '-p', 'main', '-m', `only in ${name}`);
  const only = way === 'fork' ? (parents[0] ?? '') || own : own;
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
  return { name, way, turns, refs: refs.map(([ref = '']) => ref), files };
}

/** Three, as an engine leaves them. */
function putCheckpoints(directory: string, runId: string): void {
  const { store, close } = openCheckpoints(directory);
  const row = `INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, type, checkpoint, metadata)
    VALUES (?, '', ?, 'json', '{}', '{}')`;
  for (const id of ['1', '2', '3']) store.db.prepare(row).run(runId, id);
  close();
}

/** Ids of the checkpoints of each run, oldest first. */
function checkpointsIn({ repository }: EngineRoom): Map<string, string> {
  const db = new Database(join(newStateOf(repository), 'checkpoints.db'), { readonly: true });
  const sql = 'SELECT thread_id AS run, group_concat(checkpoint_id) AS ids FROM checkpoints GROUP BY thread_id';
  const rows = db.prepare<[], { run: string; ids: string }>(sql).all();
  db.close();
  return new Map(rows.map(({ run, ids }) => [run, ids]));
}

async function workspaceOf(room: EngineRoom) {
  const host = testHost(room.root, { workingDirectory: room.repository, configHome: join(room.root, '.config') });
  const clock = { ...createSystemClock(), now: () => NOW };
  const composition = { ...openMachine(host), clock, processes: createSystemProcesses({ clock }) };
  return openWorkspace({ host, composition });
}

async function tidyIn(room: EngineRoom, keep: Keep) {
  const workspace = await workspaceOf(room);
  const look = await lookForTidying(workspace, keep, true);
  const { due, next } = await lookForTidying(workspace, keep);
  expect({ due: due.map(({ name }) => name).toSorted(), at: next?.at }, 'the quick look').toEqual({
    due: look.due.map(({ name }) => name).toSorted(),
    at: look.next?.at,
  });
  return tidy(workspace, look, async (work) => work());
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
  checkpoints: ['0d', '7d', 'all'][Math.floor(random() * 3)] ?? 'all',
  backups: 1 + Math.floor(random() * 3),
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
      for (let seed = 1; seed <= spread(4, 400, 10); seed += 1) {
        const random = createRandom(seed);
        const room = commandRoom();
        const others: readonly Way[] = ['failed', 'fork', 'open', 'live', 'asked', 'paused', 'uncommitted'];
        const ways: readonly Way[] = ['ended', 'ended', 'ended', ...others];
        const made = Array.from({ length: 5 }, (_, index) =>
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
        const nothing = { tidied: [], backups: [] };
        expect(await tidyIn(room, keep), `seed ${seed}: a second one finds nothing`).toEqual(nothing);

        const after = refsIn(room);
        for (const [ref, at] of before) {
          const run = made.find(({ refs }) => refs.includes(ref));
          const isNote = ref.endsWith('owner.id');
          const mayGo =
            ENDED.includes(run?.way ?? 'open') &&
            (isNote || isInMain(room, at)) &&
            run?.name !== (ref.includes('heads') ? onBranch?.name : '');
          if (!mayGo) expect(after.get(ref), `seed ${seed}: ${ref}`).toBe(at);
          // The name is claimed for as long as it has anything.
          const others = [...after.keys()].filter(
            (one) => run?.refs.includes(one) === true && !one.endsWith('owner.id'),
          );
          if (isNote && others.length > 0) expect(after.get(ref), `seed ${seed}: ${ref}`).toBe(at);
        }
        const checkpoints = checkpointsIn(room);
        for (const { name, way, turns, refs, files } of made) {
          expect(checkpoints.get(`id-${name}`), `seed ${seed}: ${name}`).toMatch(
            ENDED.includes(way) ? /^(?:1,2,)?3$/ : /^1,2,3$/,
          );
          const isUnmerged = refs.some((ref) => !ref.endsWith('owner.id') && !isInMain(room, before.get(ref) ?? ''));
          if (ENDED.includes(way) && !isUnmerged) continue;
          for (const path of files) expect(readFileSync(path, 'utf8'), `seed ${seed}: ${path}`).toBe(name);
          if (ENDED.includes(way)) continue;
          for (const turn of turns) expect(readdirSync(turn), `seed ${seed}: ${name}`).toEqual(['stdout']);
        }
      }
    },
  );

  it.for(some(POINTS, 0, 2))('is finished by the next one after a kill at %s', SPREAD, async (point) => {
    const room = commandRoom();
    makeRun(room, 'old', 'ended', 4000, () => 0.1);
    makeRun(room, 'new', 'ended', (Date.now() - NOW) / -DAY, () => 0.1);
    writeFileSync(join(room.repository, 'squad.yaml'), 'keep: { runs: 1, branches: until-merged, backups: 1 }\n');
    const state = newStateOf(room.repository);
    mkdirSync(join(state, 'backups'));
    for (const day of [1, 2]) writeFileSync(join(state, 'backups', `run-2026112${day}T000000000Z.db`), '');
    const killed = await room.run(['clean', '--due'], { SQUAD_FAILPOINTS: `${point}=kill` });
    expect(killed.signal).toBe('SIGKILL');
    expect((await room.run(['clean', '--due'])).code).toBe(0);
    expect((await room.run(['clean', '--due'])).stdout).toBe('nothing to clean\n');
    expect(readdirSync(join(state, 'backups'))).toEqual(['run-20261122T000000000Z.db']);
    expect(checkpointsIn(room).get('id-old')).toBe('3');
    expect(readdirSync(join(state, 'copies'))).toEqual(['id-new']);
    expect(readdirSync(join(state, 'turns'))).toEqual(['new.a-1']);
    expect(readdirSync(join(state, 'turns', 'new.a-1'))).toEqual(['stdout.gz']);
    expect([...refsIn(room).keys()].filter((ref) => ref.includes('/old'))).toEqual([]);
    expect(existsSync(join(state, 'runs', 'id-old'))).toBe(false);
  });

  it('compresses the output of a finished run, which is read as before', async () => {
    const room = commandRoom();
    const { turns } = makeRun(room, 'one', 'ended', 1);
    const [turn = ''] = turns;
    const { tidied } = await tidyIn(room, decideKeep(undefined, undefined));
    expect(tidied).toMatchObject([{ run: 'one', output: 0, packed: 1 }]);
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
    const work = ended.refs.filter((ref) => /a-|left/.test(ref));
    const copies = join(newStateOf(room.repository), 'copies');
    const { tidied } = await tidyIn(room, decideKeep(undefined, undefined));
    expect(tidied).toMatchObject([
      { run: 'old', output: 1, refs: work, branches: [], checkpoints: 2, copies: join(copies, 'id-old'), files: null },
      { run: 'new', output: 1, refs: [], checkpoints: 2, copies: null, files: null },
    ]);
    expect(readdirSync(copies)).toEqual(['id-new']);
    expect([...checkpointsIn(room)]).toEqual([
      ['id-new', '3'],
      ['id-old', '3'],
    ]);
    const { tidied: more } = await tidyIn(room, decideKeep(undefined, { runs: 1, branches: 'until-merged' }));
    expect(more).toMatchObject([
      { run: 'old', refs: ['refs/squad/old/owner.id'], branches: [{ ref: 'refs/heads/squad/old' }] },
      { run: 'new', refs: [], branches: [{ ref: 'refs/heads/squad/new' }] },
    ]);
    expect(existsSync(join(newStateOf(room.repository), 'runs', 'id-old', 'report.md'))).toBe(false);
    expect(existsSync(join(newStateOf(room.repository), 'runs', 'id-new', 'report.md'))).toBe(true);
  });

  it('is listed by a dry run, and a status says when it comes', async () => {
    const room = commandRoom();
    makeRun(room, 'old', 'ended', 4000, () => 0.1);
    writeFileSync(join(room.repository, 'squad.yaml'), 'keep: { backups: 2 }\n');
    const backups = join(newStateOf(room.repository), 'backups');
    mkdirSync(backups);
    const names = [1, 2, 3].map((day) => `run-2026112${day}T000000000Z.db`);
    for (const name of [...names, 'squad-20261101T000000Z.db']) writeFileSync(join(backups, name), '');
    const { stdout } = await room.run(['status']);
    expect(stdout).toContain(
      '  tidying  raw output of 1 run, 3 refs of merged work, checkpoints of 1 run, copied files of 1 run, 1 old backup: after the next run, or now with `squad clean`',
    );
    const would = await room.run(['clean', '--due', '--dry-run']);
    for (const line of ['prompts and raw output of 1 turn of old', '2 checkpoints of old before its newest', names[0]])
      expect(would.stdout).toContain(`would remove  ${line}`);
    expect(readdirSync(backups)).toHaveLength(4);
    expect((await room.run(['clean', '--due', '--json'])).lines).toMatchObject([
      { type: 'clean', dryRun: false, tidied: [{ run: 'old', output: 1, files: null }], backups: names.slice(0, 1) },
    ]);
    expect(readdirSync(backups)).toEqual([...names.slice(1), 'squad-20261101T000000Z.db']);
    expect((await room.run(['clean', '--due'])).stdout).toBe('nothing to clean\n');
    expect((await room.run(['status'])).stdout).not.toContain('tidying');
    expect((await room.run(['clean', 'old', '--due'])).code).toBe(2);
  });

  it('says from when on it takes what, and takes nothing that is not merged any more as it does', async () => {
    const room = commandRoom();
    makeRun(room, 'one', 'ended', 100, () => 0.1);
    const workspace = await workspaceOf(room);
    const { next } = await lookForTidying(workspace, decideKeep(undefined, { output: '200d', checkpoints: '150d' }));
    expect(next).toEqual({ at: expect.any(Number), key: 'checkpoints', run: 'one' });
    const look = await lookForTidying(workspace, decideKeep(undefined, { output: 'all', checkpoints: 'all' }));
    expect(look.due).toMatchObject([{ name: 'one', refs: [{}, {}, {}] }]);
    const before = refsIn(room);
    git(room.repository, 'commit', '--quiet', '--allow-empty', '--amend', '--message', 'Another');
    await expect(tidy(workspace, look, async (work) => work())).rejects.toThrow('is not merged any more');
    expect(refsIn(room)).toEqual(before);
  });

  it('is refused with the line and an example where `keep` says nothing that counts', async () => {
    const room = commandRoom();
    makeRun(room, 'one', 'ended', 4000);
    for (const [keep, problem] of [
      ['{ output: 30 }', 'keep.output must be text, not 30'],
      ['{ output: soon }', 'keep.output: “soon” is neither a number of days, such as 30d, nor all'],
      ['{ runs: 0 }', 'keep.runs'],
      ['{ backups: 4 }', 'keep.backups'],
      ['{ checkpoints: 7 }', 'keep.checkpoints must be text, not 7'],
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
