import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { decideDiskCheck } from '../../src/cli/doctor-checks.ts';
import { diskUseSchema, type DiskUse } from '../../src/model/disk-use.ts';
import { diskUse } from '../../src/substrate/system/files/disk-use.ts';
import { runStatusSchema } from '../../src/view/status.ts';
import { commandRoom } from '../cli/room.ts';
import { git } from '../support/git.ts';
import { newStateOf } from '../support/state.ts';
import { definition, RecordedRun } from '../view/report/support.ts';
import { ALL } from '../support/lane.ts';

const USE: DiskUse = { measuredAt: 1, folders: 1.1e9, objects: 12e6, output: 30e6, ledger: 40e6, others: 0 };

describe('what squad takes on the disk', () => {
  it('is counted as the system counts it: blocks, a file of several names once, nothing behind a link', () => {
    const root = mkdtempSync(join(tmpdir(), 'squad-use-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    mkdirSync(join(root, 'one/two'), { recursive: true });
    writeFileSync(join(root, 'one/two/file'), 'x'.repeat(100_000));
    linkSync(join(root, 'one/two/file'), join(root, 'one/other-name'));
    symlinkSync('/usr', join(root, 'one/link'));
    const [said = ''] = execFileSync('du', ['--summarize', '--block-size=1', root], { encoding: 'utf8' }).split('\t');
    expect(diskUse(root)).toBe(Number(said));
    expect(diskUse(root)).toBeGreaterThan(100_000);
    expect(diskUse(join(root, 'gone'))).toBe(0);
  });

  it('is said by status as it was measured last, and measured by a tidying', ALL, async () => {
    const room = commandRoom();
    const run = new RecordedRun({ ...definition(), name: 'one' }, newStateOf(room.repository)).allocate();
    run.publish().writeEnd();
    run.ledger.releaseLease(run.lease, 1);
    run.close();
    const turn = join(run.directory, 'turns', 'one.a-1');
    mkdirSync(turn, { recursive: true });
    writeFileSync(join(turn, 'stdout.gz'), 'x'.repeat(50_000));
    expect((await room.run(['status'])).stdout).toContain('  disk  not measured yet: `squad doctor` does');
    expect((await room.run(['status', '--json'])).lines).toMatchObject([{ disk: null, tidying: { output: 0 } }]);

    const tree = git(room.repository, 'rev-parse', 'main^{tree}');
    const only = git(room.repository, 'commit-tree', tree, '-p', 'main', '-m', 'only');
    git(room.repository, 'update-ref', 'refs/squad/one/a-1', only);
    await room.run(['clean', '--due']);
    const [status] = (await room.run(['status', '--json'])).lines;
    const { disk } = runStatusSchema.parse(status);
    expect(diskUseSchema.parse(disk).output).toBeGreaterThan(50_000);
    expect(disk?.objects).toBeGreaterThan(100);
    expect(disk?.objects).toBeLessThan(1_000);
    expect((await room.run(['status'])).stdout).toMatch(
      /\n {2}disk {2}[\d.]+ \wB: folders [\d.]+ k?B, objects \d+ B, /,
    );
  });

  it.each([
    [3e9, 2, []],
    [1.2e9, 2, ['1.2 GB are free there']],
    [1.2e9, 0, []],
  ])('is a check of doctor, with %s bytes free and %s GB wanted', (free, wanted, problems) => {
    const check = decideDiskCheck(USE, free, wanted);
    expect(check).toMatchObject({ name: 'disk', ok: true });
    expect(check.found).toBe(
      'in use by squad, 1.2 GB: folders 1.1 GB, objects 12 MB, output 30 MB, ledger 40 MB, others 0 B',
    );
    expect(check.problems.map(({ text }) => text.slice(0, 21))).toEqual(problems);
  });
});
