// @module-tag all
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isSquadError, type SquadError } from '../../../src/model/errors.ts';
import { manifestPart, readManifest, type Manifest } from '../../../src/squad/moving/manifest.ts';
import { packRuns } from '../../../src/squad/moving/pack.ts';
import { unpackRuns } from '../../../src/squad/moving/unpack.ts';
import { RUN_EVENTS } from '../../../src/model/run.ts';
import { createSystemClock } from '../../../src/substrate/system/clock/system-clock.ts';
import { plainJson } from '../../../src/text/json.ts';
import { checkDatabase, ledgerPath, openLedger } from '../../../src/substrate/ledger/index.ts';
import { readTar, writeTar } from '../../../src/substrate/system/files/tar-file.ts';
import { open } from 'node:fs/promises';
import { createRepository, git } from '../../support/git.ts';
import { newStateOf } from '../../support/state.ts';
import { testHost } from '../../support/test-host.ts';
import { definition } from '../../view/report/support.ts';

const SECRET = 'canary-9c0d2f64a1b34f55';

let root: string;
let source: string;
let pack: string;
let packed: Awaited<ReturnType<typeof packRuns>>;
let clones = 0;

const placeOf = (repository: string, home: string) => ({ host: testHost(home, { workingDirectory: repository }) });

/** What would be a run's: a branch, kept work, a claim, and files of each kind beside the ledger; and secrets beside them. */
function writeRun(directory: string, id: string): void {
  const base = git(source, 'rev-parse', 'HEAD');
  git(source, 'checkout', '-q', '-b', 'work');
  writeFileSync(join(source, 'a.txt'), 'made\n');
  git(source, 'add', 'a.txt');
  git(source, 'commit', '-qm', 'Make a');
  git(source, 'update-ref', 'refs/squad/tidy/a-1', 'HEAD');
  git(source, 'checkout', '-q', 'main');
  git(source, 'branch', '-qD', 'work');
  git(source, 'update-ref', 'refs/heads/squad/tidy', base);
  const owner = execFileSync('git', ['-C', source, 'hash-object', '-w', '--stdin'], { input: id, encoding: 'utf8' });
  git(source, 'update-ref', 'refs/squad/tidy/owner.id', owner.trim());
  const files = {
    [`runs/${id}/armory/aa/SKILL.md`]: 'a skill',
    [`runs/${id}/plan.yaml`]: 'tasks: []',
    [`copies/${id}/bb`]: 'A=1',
    'attachments/cc/sketch.md': 'a skill',
    'turns/tidy.a-1/secrets.json': SECRET,
    'turns/tidy.a-1/stdout': SECRET,
    'trust.json': SECRET,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'squad-pack-'));
  source = createRepository(join(root, 'repository'));
  const base = git(source, 'rev-parse', 'HEAD');
  const directory = newStateOf(source);
  const about = { ...definition(), repository: { root: source, base, branch: 'main' } };
  const ledger = openLedger(directory, { clock: createSystemClock(), ballastBytes: 4096 });
  ledger.createRun({ id: 'id-tidy', name: 'tidy' });
  ledger.append('id-tidy', RUN_EVENTS.defined, plainJson(about));
  ledger.close();
  writeRun(directory, 'id-tidy');
  pack = join(root, 'runs.tar');
  const place = placeOf(source, root);
  const environment = { ...place.host.environment, CANARY_TOKEN: SECRET };
  packed = await packRuns({ host: { ...place.host, environment } }, pack);
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Another person's clone, which has nothing of the run but its base. */
function clone(): { repository: string; home: string; files: () => string[] } {
  const home = join(root, `home-${(clones += 1)}`);
  const repository = join(home, 'clone');
  mkdirSync(home);
  execFileSync('git', ['clone', '-q', '--single-branch', source, repository]);
  const files = () =>
    readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(
      (path) => !/^clone\/\.git\/(?:objects|logs)/.test(path),
    );
  return { repository, home, files };
}

async function failure(work: Promise<unknown>): Promise<SquadError> {
  const error: unknown = await work.then(
    () => new Error('it went well'),
    (thrown: unknown) => thrown,
  );
  if (!isSquadError(error)) throw error;
  return error;
}

/** A pack with another manifest. */
async function packWith(change: (manifest: Manifest) => object): Promise<string> {
  const file = await open(pack, 'r');
  const { manifest, entries } = await readManifest(file, pack);
  await file.close();
  const parts = await Promise.all(
    [...entries.values()].map(async ({ name, bytes, offset }) => {
      const content = join(root, `part-${name}`);
      writeFileSync(content, readFileSync(pack).subarray(offset, offset + bytes));
      return { name, bytes, from: { file: content } };
    }),
  );
  const path = join(root, `other-${(clones += 1)}.tar`);
  await writeTar(path, [manifestPart({ ...manifest, ...change(manifest) }), ...parts]);
  return path;
}

describe('a pack', () => {
  it('is a tar archive for this user alone, and has no secret', () => {
    expect(statSync(pack).mode & 0o777).toBe(0o600);
    const names = execFileSync('tar', ['tf', pack], { encoding: 'utf8' }).trim().split('\n');
    expect(names[0]).toMatch(/^manifest-[0-9a-f]{64}\.json$/);
    expect(names.slice(1).every((name) => /^[0-9a-f]{64}$/.test(name))).toBe(true);
    expect(readFileSync(pack).includes(SECRET)).toBe(false);
    expect(packed).toMatchObject({ lost: [], hasCopies: true, runs: [{ name: 'tidy', unfinished: true }] });
  });

  it('is taken over where nothing of the run was: ledger, commits and files are the same', async () => {
    const { repository, home } = clone();
    const { directory, runs } = await unpackRuns(placeOf(repository, home), pack);
    expect(runs).toEqual(packed.runs);
    expect(checkDatabase(ledgerPath(directory))).toMatchObject({ ok: true, problems: [], violations: [] });
    const refs = (at: string) =>
      git(at, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/squad', 'refs/heads/squad');
    expect(refs(repository)).toBe(refs(source));
    expect(readFileSync(join(directory, 'runs/id-tidy/armory/aa/SKILL.md'), 'utf8')).toBe('a skill');
    expect(readFileSync(join(directory, 'copies/id-tidy/bb'), 'utf8')).toBe('A=1');
    expect(readFileSync(join(directory, 'attachments/cc/sketch.md'), 'utf8')).toBe('a skill');
    expect(['trust.json', 'turns'].filter((name) => existsSync(join(directory, name)))).toEqual([]);
    expect(readdirSync(join(home, 'state', 'squad')).filter((name) => name.startsWith('unpacking'))).toEqual([]);
    const again = await failure(unpackRuns(placeOf(repository, home), pack));
    expect(again).toMatchObject({ code: 'usage', message: expect.stringContaining('has runs of its own') as string });
  });

  it('is refused with its name where any byte is flipped or the end is missing, and nothing is written', async () => {
    const { repository, home, files } = clone();
    const before = files();
    const whole = readFileSync(pack);
    const file = await open(pack, 'r');
    const entries = (await readTar(file)) ?? [];
    await file.close();
    // Header, first and last byte and padding of each part; both empty blocks.
    const places = entries.flatMap(({ offset, bytes }) => [
      offset - 512,
      offset - 300,
      offset,
      offset + bytes - 1,
      offset + bytes,
    ]);
    const flips = [...places, whole.length - 1, whole.length - 1024].filter((at) => at < whole.length);
    const cuts = [0, 1, 511, 512, ...entries.map(({ offset }) => offset + 7), whole.length - 512, whole.length - 1];
    const damaged = join(root, 'damaged.tar');
    const tries = [
      ...flips.map((at) => ({ what: `flipped at ${at}`, bytes: whole.with(at, (whole[at] ?? 0) ^ 1) })),
      ...cuts.map((at) => ({ what: `cut at ${at}`, bytes: whole.subarray(0, at) })),
      { what: 'longer', bytes: Buffer.concat([whole, Buffer.alloc(512)]) },
    ];
    for (const { what, bytes } of tries) {
      writeFileSync(damaged, bytes);
      const { code, message } = await failure(unpackRuns(placeOf(repository, home), damaged));
      expect([what, code, message.startsWith(damaged)]).toEqual([what, 'bad-input', true]);
    }
    expect(files().filter((path) => path !== 'state' && path !== 'state/squad')).toEqual(before);
    expect(git(repository, 'for-each-ref', 'refs/squad', 'refs/heads/squad')).toBe('');
  });
});

describe('a pack is refused', () => {
  it('where the repository lacks the commit that a run began with', async () => {
    const { home } = clone();
    const other = createRepository(join(home, 'other'), { 'x.txt': 'other' });
    const error = await failure(unpackRuns(placeOf(other, home), pack));
    expect(error).toMatchObject({
      code: 'wrong-environment',
      message: expect.stringContaining('lacks the commit') as string,
    });
  });

  it('outside of a repository', async () => {
    const { home } = clone();
    expect(await failure(unpackRuns(placeOf(home, home), pack))).toMatchObject({ code: 'not-a-repository' });
  });

  it.each<[string, (manifest: Manifest) => object, string]>([
    ['of a newer format', () => ({ version: 2 }), 'schema-newer'],
    ['with a newer ledger', ({ schema }) => ({ schema: schema + 1 }), 'schema-newer'],
    ['with an older ledger', ({ schema }) => ({ schema: schema - 1 }), 'schema-older'],
    [
      'with a part too many',
      ({ parts }) => ({ parts: parts.map((one) => ({ ...one, sha256: '0'.repeat(64) })) }),
      'bad-input',
    ],
    [
      'with a consent',
      ({ parts }) => ({ parts: parts.map((one) => (one.kind === 'state' ? { ...one, path: 'trust.json' } : one)) }),
      'bad-input',
    ],
    [
      'with a path that leaves its folder',
      ({ parts }) => ({ parts: parts.map((one) => (one.kind === 'state' ? { ...one, path: 'runs/../../x' } : one)) }),
      'bad-input',
    ],
    [
      'with a hook of git',
      ({ parts }) => ({
        parts: parts.map((one) =>
          one.kind === 'state' ? { ...one, kind: 'checkout', path: '.git/hooks/post-checkout' } : one,
        ),
      }),
      'bad-input',
    ],
    [
      'with a ref that is no run’s',
      ({ runs }) => ({ runs: runs.map((one) => ({ ...one, branch: { ...one.branch, ref: 'refs/heads/main' } })) }),
      'bad-input',
    ],
  ])('%s', async (_, change, code) => {
    const { repository, home } = clone();
    const error = await failure(unpackRuns(placeOf(repository, home), await packWith(change)));
    expect(error).toMatchObject({ code });
    expect(git(repository, 'for-each-ref', 'refs/squad', 'refs/heads/squad')).toBe('');
  });

  it('where a branch of a run’s name is someone else’s', async () => {
    const { repository, home } = clone();
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'Mine');
    git(repository, 'branch', 'squad/tidy');
    expect(await failure(unpackRuns(placeOf(repository, home), pack))).toMatchObject({ code: 'usage' });
  });

  it('where the file to write exists, or is not there to be read', async () => {
    expect(await failure(packRuns(placeOf(source, root), pack))).toMatchObject({ code: 'usage' });
    const { repository, home } = clone();
    expect(await failure(unpackRuns(placeOf(repository, home), 'nothing.tar'))).toMatchObject({ code: 'usage' });
  });
});
