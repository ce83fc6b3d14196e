import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KINDS } from '../../../src/model/sprint/kinds.ts';
import { bindWorkspace, openWorkspace } from '../../../src/squad/open-workspace.ts';
import { writeTeamFiles, type WrittenTeam } from '../../../src/squad/team/write-team-files.ts';
import { openLedger } from '../../../src/substrate/ledger/index.ts';
import { plainJson } from '../../../src/text/json.ts';
import { createRepository, git } from '../../support/git.ts';
import { ALL } from '../../support/lane.ts';
import { recordsAfter } from '../../support/team-records.ts';
import { testHost } from '../../support/test-host.ts';
import { temporaryFolder } from '../../substrate/git/bench.ts';

const PROGRAM = fileURLToPath(new URL('../../fixtures/team/write-files.ts', import.meta.url));
const TEAM = { folder: 'team', timezone: 'Asia/Seoul' };

async function roomFor(history: Parameters<typeof recordsAfter>[0]) {
  const root = temporaryFolder();
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const repository = createRepository(join(root, 'repository'));
  const workspace = bindWorkspace(await openWorkspace({ host: testHost(root, { workingDirectory: repository }) }));
  const record = (records: ReturnType<typeof recordsAfter>): void => {
    const ledger = openLedger(workspace.directory, workspace.composition);
    for (const [kind, all] of records) {
      for (const [id, value] of all) {
        const json = plainJson(value);
        if (JSON.stringify(ledger.record(kind, id)?.value) !== JSON.stringify(json))
          ledger.writeRecord({ kind, id, value: json });
      }
    }
    ledger.close();
  };
  record(recordsAfter(history));
  const folder = join(repository, 'team');
  return {
    ...{ root, repository, folder, record, directory: workspace.directory },
    read: (path: string): string => readFileSync(join(folder, path), 'utf8'),
    write: async (options = {}): Promise<WrittenTeam> => writeTeamFiles(workspace, TEAM, options),
  };
}

function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const paths = names.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]));
}

describe('the files of a team', { timeout: 60_000 }, () => {
  it('are written once, then only where the records have changed', async () => {
    const room = await roomFor({ sprints: 2, active: true });
    const first = await room.write();
    expect(first.kept).toEqual([]);
    expect(first.written).toContain('shared_workspace/sprint_history/260324-Sprint-09-00.md');
    expect(await room.write()).toEqual({ written: [], kept: [], removed: [] });

    room.record(recordsAfter({ sprints: 2 }));
    const second = await room.write();
    expect(second.written.at(-1)).toBe('shared_workspace/sprint_history/260324-Sprint-16-12.md');
    // The first sprint is over and written: nothing of it is looked at again.
    expect(second.written.filter((path) => path.includes('260324-Sprint-09-00'))).toEqual([]);
    expect(second.written).not.toContain('shared_workspace/sprints/260324-Sprint-16-12/kickoff.md');
    expect(room.read('shared_workspace/current_sprint.md')).toContain('No sprint is active.');
    expect(git(room.repository, 'status', '--porcelain')).toBe('?? team/');
  });

  it('leave what a person wrote: it is kept aside, and a kickoff stays as it is', async () => {
    const room = await roomFor({ sprints: 1, active: true });
    mkdirSync(join(room.folder, 'shared_workspace'), { recursive: true });
    writeFileSync(join(room.folder, 'shared_workspace/backlog.md'), 'mine\n');
    const first = await room.write();
    expect(first.kept).toEqual([{ path: 'shared_workspace/backlog.md', as: 'shared_workspace/backlog.md.theirs' }]);
    expect(room.read('shared_workspace/backlog.md.theirs')).toBe('mine\n');

    const kickoff = 'shared_workspace/sprints/260324-Sprint-09-00/kickoff.md';
    const before = room.read(kickoff);
    writeFileSync(join(room.folder, 'shared_workspace/current_sprint.md'), 'edited\n');
    room.record(recordsAfter({ sprints: 1 }));
    const second = await room.write();
    expect(second.kept).toEqual([
      { path: 'shared_workspace/current_sprint.md', as: 'shared_workspace/current_sprint.md.theirs' },
    ]);
    room.record(
      new Map([[KINDS.sprint, new Map([...(recordsAfter({ sprints: 1, hostile: 'other' }).get(KINDS.sprint) ?? [])])]]),
    );
    await room.write({ all: true });
    expect(room.read(kickoff)).toBe(before);
  });

  it('come back where a person removed them, with `all` those of old sprints too', async () => {
    const room = await roomFor({ sprints: 2 });
    await room.write();
    const before = filesIn(room.folder);
    rmSync(join(room.folder, 'shared_workspace'), { recursive: true });
    const { written } = await room.write({ all: true });
    expect(written.length).toBeGreaterThan(10);
    expect(filesIn(room.folder)).toEqual(before);
  });

  it('follow no link, whether in the folder or on the way to it', async () => {
    const room = await roomFor({ sprints: 1 });
    const outside = join(room.root, 'outside');
    mkdirSync(outside);
    mkdirSync(room.folder);
    symlinkSync(outside, join(room.folder, 'shared_workspace'));
    await expect(room.write()).rejects.toThrow('is a link; remove it');
    rmSync(room.folder, { recursive: true });
    symlinkSync(outside, room.folder);
    await expect(room.write()).rejects.toThrow('is a link; remove it');
    expect(readdirSync(outside)).toEqual([]);
  });

  it('are the same after a kill at any point and a second pass', ALL, async () => {
    const whole = await roomFor({ sprints: 2 });
    await whole.write();
    const expected = filesIn(whole.folder);
    const room = await roomFor({ sprints: 2 });
    const points = [
      'files.before-rename=kill',
      'files.renamed=kill',
      'files.before-rename:9=kill',
      'files.renamed:15=kill',
    ];
    for (const point of points) {
      const { signal, stderr } = spawnSync(process.execPath, [PROGRAM, room.root, room.repository, point], {
        encoding: 'utf8',
      });
      expect([point, signal], stderr).toEqual([point, 'SIGKILL']);
    }
    expect((await room.write()).kept).toEqual([]);
    expect(filesIn(room.folder)).toEqual(expected);
    expect(await room.write()).toMatchObject({ written: [] });
  });

  it('are written by one process at a time', async () => {
    const room = await roomFor({ sprints: 3 });
    const all = await Promise.all([room.write(), room.write(), room.write()]);
    const written = all.flatMap((one) => one.written);
    expect(new Set(written).size).toBe(written.length);
    expect(existsSync(join(room.directory, 'team/files.jsonl'))).toBe(true);
    expect(statSync(join(room.directory, 'team/files.jsonl')).mode & 0o077).toBe(0);
  });
});
