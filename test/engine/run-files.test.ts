import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { definition, RecordedRun } from '../report/support.ts';
import { filesOf } from '../support/run-files.ts';
import { snapshot } from '../support/snapshot.ts';

function recorded(): RecordedRun {
  return new RecordedRun(definition()).allocate().turn('plan', 1, 'ada', { text: 'planned' });
}

function folderOf(run: RecordedRun): string {
  return join(run.directory, 'runs', run.id);
}

async function write(run: RecordedRun, ...more: Parameters<typeof filesOf> extends [unknown, ...infer R] ? R : never) {
  const { files, warnings } = filesOf(run, ...more);
  files.changed(run.read().board);
  await files.end('done');
  return warnings;
}

describe('the files of a run', () => {
  it('are written in the background, and all of them at the end', async () => {
    const run = recorded();
    const { files, warnings } = filesOf(run);
    files.changed(run.read().board);
    expect(existsSync(folderOf(run))).toBe(false);
    await vi.waitFor(() => expect(readdirSync(join(folderOf(run), 'history'))).toHaveLength(1));
    run.turn('plan', 2, 'ada', { text: 'again' });
    await files.end('done', [{ path: 'report.md', text: '# Report\n' }]);
    expect(readdirSync(folderOf(run)).toSorted()).toEqual(['checklist.md', 'history', 'objective.md', 'report.md']);
    expect(readdirSync(join(folderOf(run), 'history'))).toHaveLength(2);
    files.changed(run.read().board);
    await files.end('failed', [{ path: 'report.md', text: 'late' }]);
    expect(readFileSync(join(folderOf(run), 'report.md'), 'utf8')).toBe('# Report\n');
    expect(warnings).toEqual([]);
  });

  it('have no turn that never ran or has not ended', async () => {
    const run = recorded()
      .turn('a', 1, 'bob', { outcome: 'failed', failure: { kind: 'never-started', message: '', mayHaveActed: false } })
      .turn('a', 2, 'bob');
    await write(run);
    expect(readdirSync(join(folderOf(run), 'history'))).toEqual([expect.stringMatching(/-ada-plan-1\.md$/)]);
  });

  it('are made anew by the next engine: what is the same stays as it is, and nothing half written is left', async () => {
    const run = recorded().turn('a', 1, 'bob', { text: 'done' });
    await write(run);
    const folder = folderOf(run);
    const before = snapshot(folder);
    const kept = statSync(join(folder, 'objective.md')).mtimeMs;
    const [first = '', second = ''] = readdirSync(join(folder, 'history'));
    writeFileSync(join(folder, 'history', first), 'half');
    writeFileSync(join(folder, 'history', `.new-${second}`), 'half');
    writeFileSync(join(folder, '.new-state.json'), 'half');
    await write(run);
    expect(snapshot(folder)).toEqual(before);
    expect(statSync(join(folder, 'objective.md')).mtimeMs).toBe(kept);
  });

  it('hold no secret', async () => {
    const run = recorded().turn('a', 1, 'bob', { text: 'the key is hunter2-hunter2-hunter2' });
    await write(run, {}, ['hunter2-hunter2-hunter2']);
    const texts = readdirSync(join(folderOf(run), 'history')).map((name) =>
      readFileSync(join(folderOf(run), 'history', name), 'utf8'),
    );
    expect(texts.join('')).toContain('the key is [redacted]');
    expect(texts.join('')).not.toContain('hunter2');
  });

  it.skipIf(process.getuid?.() === 0)('that cannot be written are one warning', async () => {
    const run = recorded();
    mkdirSync(folderOf(run), { recursive: true });
    chmodSync(folderOf(run), 0o500);
    const warnings = await write(run);
    expect(warnings).toEqual([expect.stringContaining(`the files in ${folderOf(run)} are not complete: `)]);
    chmodSync(folderOf(run), 0o700);
  });

  it('are written again once what was in their way is gone', async () => {
    const run = recorded();
    mkdirSync(folderOf(run), { recursive: true });
    writeFileSync(join(folderOf(run), 'history'), 'a file, and no folder');
    expect(await write(run)).toEqual([expect.stringContaining('are not complete: ')]);
    expect(readdirSync(folderOf(run))).toEqual(['history']);
    expect(readFileSync(join(folderOf(run), 'history'), 'utf8')).toBe('a file, and no folder');
  });
});
