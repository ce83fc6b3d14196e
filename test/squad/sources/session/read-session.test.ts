import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fc } from '@fast-check/vitest';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isSquadError } from '../../../../src/model/errors.ts';
import { checkFolder, readSession, readSessionFolder } from '../../../../src/squad/sources/session/read-session.ts';
import { ALL, spread, SPREAD } from '../../../support/lane.ts';
import { DIAMOND, sessionTexts, writeSession } from '../../../support/session-folder.ts';

/** A room with the session `team`. */
function room(): { readonly at: string; readonly team: string } {
  const at = mkdtempSync(join(tmpdir(), 'squad-read-session-'));
  onTestFinished(() => rmSync(at, { recursive: true, force: true }));
  return { at, team: writeSession(join(at, 'team'), DIAMOND) };
}

/** The lines about the session `team`, without the first and the next step; none: it is fine. */
async function problemsIn(at: string): Promise<string[]> {
  const check = await checkFolder('team', at);
  return check.ok ? [] : check.problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);
}

/** Puts something else in the place of a file or folder. */
function replace(path: string, make: (path: string) => void): void {
  rmSync(path, { recursive: true, force: true });
  make(path);
}

describe('a session folder is read', () => {
  it('with the hashes of its files, by a path or a link to it', async () => {
    const { at, team } = room();
    symlinkSync(team, join(at, 'link'));
    for (const name of ['team', 'link', relative(at, `${team}/`), team]) {
      const { session, path } = await readSession(name, at);
      expect(path).toBe(team);
      const files = Object.keys(sessionTexts(DIAMOND));
      const hash = (file: string) =>
        createHash('sha256')
          .update(readFileSync(join(team, file)))
          .digest('hex');
      expect(session.start.hashes).toEqual(Object.fromEntries(files.toSorted().map((file) => [file, hash(file)])));
    }
  });

  it('but for what squad does not look at', async () => {
    const { at, team } = room();
    writeFileSync(join(team, 'artifacts', 'picture.png'), Buffer.from([0xff, 0xfe]));
    mkdirSync(join(team, 'artifacts', 'folder'));
    symlinkSync('/etc/passwd', join(team, 'notes'));
    writeFileSync(join(team, '.msg', 'messages.jsonl'), 'not looked at');
    const halfWritten = ['artifacts', 'discussions', 'roles'].map((folder) => `${folder}/.new-4711-1-report.md`);
    for (const path of halfWritten) writeFileSync(join(team, path), Buffer.from([0xc3]));
    expect(await problemsIn(at)).toEqual([]);
    const { session } = await readSession('team', at);
    expect(session.start).toMatchObject({ artifacts: [], discussions: [] });
  });

  it('and is not there', async () => {
    const { at } = room();
    writeFileSync(join(at, 'file'), 'x');
    for (const name of ['nothing', 'file', 'team/roles/analyst.md/x', 'x'.repeat(5000), 'a\0b']) {
      const check = await checkFolder(name, at);
      expect(check).toMatchObject({
        ok: false,
        first: expect.stringMatching(/^Session directory not found: /) as string,
      });
    }
  });
});

const LINK = 'is a link, which squad does not follow: replace it with the';
const FILES = [
  { file: 'team-session.json', says: 'Invalid session: team-session.json corrupt: it ' },
  { file: 'task-analysis.json', says: 'Invalid session: task-analysis.json corrupt: it ' },
  { file: 'roles/analyst.md', says: 'Invalid role file: roles/analyst.md ' },
  { file: 'shared-memory.json', says: 'Invalid session: shared-memory.json ' },
  { file: 'wisdom/issues.md', says: 'Invalid session: wisdom/issues.md ' },
  { file: 'artifacts/a.md', says: 'Invalid session: artifacts/a.md ' },
  { file: 'discussions/a.md', says: 'Invalid session: discussions/a.md ' },
  { file: 'explorations/cache-index.json', says: 'Invalid session: explorations/cache-index.json ' },
  { file: 'explorations/explore-a.json', says: 'Invalid session: explorations/explore-a.json ' },
];

describe('a file that squad reads', () => {
  it.each(FILES)('$file is a plain text of at most 1 MiB', async ({ file, says }) => {
    const { at, team } = room();
    const path = join(team, file);
    const place = `team/${file}`;
    writeFileSync(join(at, 'elsewhere'), 'secret');
    replace(path, (made) => symlinkSync(join(at, 'elsewhere'), made));
    expect(await problemsIn(at)).toEqual([`${place}:1: ${says}${LINK} file`]);
    replace(path, (made) => mkdirSync(made));
    expect(await problemsIn(at)).toEqual([`${place}:1: ${says}is a folder, where a file has to be`]);
    replace(path, (made) => writeFileSync(made, Buffer.from('{\n"a": "\xff"}', 'latin1')));
    expect(await problemsIn(at)).toEqual([`${place}:2: ${says}is not UTF-8 text; save it as UTF-8`]);
    replace(path, (made) => writeFileSync(made, ' '.repeat(1024 * 1024 + 1)));
    expect(await problemsIn(at)).toEqual([`${place}:1: ${says}is larger than 1 MiB`]);
    replace(path, (made) => execFileSync('mkfifo', [made]));
    expect(await problemsIn(at)).toEqual([`${place}:1: ${says}is not a regular file`]);
  });

  it('is read whole or not at all, up to 32 MiB of all', ALL, async () => {
    const { at, team } = room();
    for (let index = 10; index < 44; index += 1) {
      writeFileSync(join(team, 'discussions', `${index}.md`), 'x'.repeat(1024 * 1024));
    }
    const [first, ...more] = await problemsIn(at);
    expect(first).toContain('exceeds the 32 MiB that squad reads of one session');
    expect(more.length).toBeGreaterThan(0);
  });
});

describe('a folder in it', () => {
  it.each(['artifacts', 'wisdom', 'explorations', 'discussions', '.msg'])('%s is no link and no file', async (name) => {
    const { at, team } = room();
    replace(join(team, name), (path) => symlinkSync(at, path));
    expect(await problemsIn(at)).toEqual([`team/${name}:1: Invalid session: ${name} ${LINK} folder`]);
    replace(join(team, name), (path) => writeFileSync(path, 'x'));
    expect(await problemsIn(at)).toEqual([`team/${name}:1: Invalid session: ${name} is no folder`]);
    rmSync(join(team, name));
    expect(await problemsIn(at)).toEqual([]);
  });

  it('roles is no link either, also to itself', async () => {
    const { at, team } = room();
    for (const target of [at, 'roles']) {
      replace(join(team, 'roles'), (path) => symlinkSync(target, path));
      expect(await problemsIn(at)).toEqual([
        `team/roles:1: Invalid session: roles/ directory missing: it ${LINK} folder`,
      ]);
    }
  });

  it('has a file that squad would write, as a link', async () => {
    const { at, team } = room();
    symlinkSync('/etc/passwd', join(team, '.msg', 'messages.jsonl'));
    expect(await problemsIn(at)).toEqual([
      `team/.msg/messages.jsonl:1: Invalid session: .msg/messages.jsonl ${LINK} file`,
    ]);
  });
});

const WHATS = ['lose', 'cut', 'bytes', 'link', 'folder', 'empty'] as const;

describe('mutated folders', () => {
  it('are sessions, or one typed error', { ...SPREAD, timeout: 300_000 }, async () => {
    const { at } = room();
    const files = [...Object.keys(sessionTexts(DIAMOND)), 'roles', 'artifacts', '.msg', 'artifacts/new.md'];
    const edit = fc.record({
      file: fc.constantFrom(...files),
      what: fc.constantFrom(...WHATS),
      at: fc.nat(3000),
      bytes: fc.uint8Array({ maxLength: 8 }),
    });
    const property = fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async (edits) => {
      const name = mkdtempSync(join(at, 'mutated-'));
      writeSession(name, DIAMOND);
      for (const one of edits) change(join(name, one.file), one);
      try {
        await readSession(name, at);
      } catch (error) {
        expect(isSquadError(error) && error.exitCode, String(error)).toBe(65);
      }
      expect((await readSessionFolder(name, at)).folder).toBe(name);
      rmSync(name, { recursive: true });
    });
    await fc.assert(property, { numRuns: spread(40, 300) });
  });
});

function change(
  path: string,
  { what, at, bytes }: { what: (typeof WHATS)[number]; at: number; bytes: Uint8Array },
): void {
  let before = Buffer.alloc(0);
  try {
    before = readFileSync(path);
  } catch {
    // A folder, or nothing any more.
  }
  const index = at % (before.length + 1);
  const make: Readonly<Record<(typeof WHATS)[number], (made: string) => void>> = {
    lose: () => undefined,
    cut: (made) => writeFileSync(made, before.subarray(0, index)),
    bytes: (made) => writeFileSync(made, Buffer.concat([before.subarray(0, index), bytes, before.subarray(index)])),
    link: (made) => symlinkSync('team-session.json', made),
    folder: (made) => mkdirSync(made),
    empty: (made) => writeFileSync(made, ''),
  };
  try {
    replace(path, make[what]);
  } catch {
    // What it stood in is gone by now.
  }
}
