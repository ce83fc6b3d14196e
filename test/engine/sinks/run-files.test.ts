import { createHash } from 'node:crypto';
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
import { describe, expect, it, vi } from 'vitest';
import type { Playbook } from '../../../src/model/plan.ts';
import type { Board, TaskState } from '../../../src/model/plan/board.ts';
import { definition, RecordedRun } from '../../view/report/support.ts';
import { filesOf } from '../../support/run-files.ts';
import { snapshot } from '../../support/snapshot.ts';

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

  it('cost no report where one of them cannot be written', async () => {
    const run = recorded();
    mkdirSync(folderOf(run), { recursive: true });
    writeFileSync(join(folderOf(run), 'history'), 'a file, and no folder');
    const { files, warnings } = filesOf(run);
    files.changed(run.read().board);
    await files.end('done', [{ path: 'report.md', text: '# Report\n' }]);
    expect(readFileSync(join(folderOf(run), 'report.md'), 'utf8')).toBe('# Report\n');
    expect(warnings).toEqual([expect.stringContaining('are not complete: ')]);
  });

  it('are not written through a link, and nothing behind one is removed', async () => {
    const run = recorded();
    const elsewhere = join(run.directory, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'note.md'), 'mine');
    mkdirSync(folderOf(run), { recursive: true });
    for (const name of ['failures', 'history']) symlinkSync(elsewhere, join(folderOf(run), name));
    const warnings = await write(run);
    expect(readdirSync(elsewhere)).toEqual(['note.md']);
    expect(warnings).toEqual([expect.stringContaining('is a link; remove it')]);
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

  it('that cannot be written are one warning, and are written once they can be', async () => {
    const run = recorded();
    const inTheWay = folderOf(run);
    mkdirSync(join(run.directory, 'runs'));
    writeFileSync(inTheWay, 'a file, and no folder');
    const { files, warnings } = filesOf(run);
    files.changed(run.read().board);
    await vi.waitFor(() => expect(warnings).toEqual([expect.stringContaining(`${inTheWay} are not complete: `)]));
    files.changed(run.turn('plan', 2, 'ada', { text: 'again' }).read().board);
    await files.end('waiting');
    expect(warnings).toHaveLength(1);
    rmSync(inTheWay);
    expect(await write(run)).toEqual([]);
    expect(readdirSync(join(inTheWay, 'history'))).toHaveLength(2);
  });

  it('that cannot be written into the folder of the run are told again at the end', async () => {
    const folder = join(recorded().directory, 'gone');
    const run = new RecordedRun({ ...definition(), folder }).allocate();
    const { files, warnings } = filesOf(run, { folder: () => [{ path: 'state.json', text: '{}' }] });
    files.changed(run.read().board);
    await vi.waitFor(() => expect(warnings).toHaveLength(1));
    const problem = expect.stringContaining('is not there any more');
    expect(await files.endFolders('waiting')).toEqual([{ sink: 'session', folder, problem }]);
    await files.end('waiting');
    expect(warnings).toEqual([
      problem,
      expect.stringMatching(/is not there any more.*`squad resume tidy` writes them/),
    ]);
  });

  it('have the documents as they were delivered, and nothing that is not delivered any more', async () => {
    const run = recorded();
    const documents = {
      'a:docs/spec.md': '# Spec\n\u001b[2J',
      'b:docs/spec.md': '# New\n',
      'c:docs/plan.md': '# Plan\n',
    };
    const { board } = run.read();
    const before = withDocument(withDocument(board, 'spec', 'docs/spec.md', 'a'), 'plan', 'docs/plan.md', 'c');
    const after = withDocument(withDocument(board, 'spec', 'docs/spec.md', 'b'), 'plan', 'docs/plan.md', null);
    const { files } = filesOf(run, {}, [], documents);
    files.changed(before);
    const artifacts = join(folderOf(run), 'artifacts');
    await vi.waitFor(() => expect(existsSync(join(artifacts, 'index.json'))).toBe(true));
    expect(readFileSync(join(artifacts, 'spec.md'), 'utf8')).toBe(documents['a:docs/spec.md']);
    files.changed(after);
    await files.end('done');
    expect(readdirSync(artifacts)).toEqual(['index.json', 'spec.md']);
    expect(readFileSync(join(artifacts, 'spec.md'), 'utf8')).toBe('# New\n');
    expect(JSON.parse(readFileSync(join(artifacts, 'index.json'), 'utf8'))).toEqual([
      {
        ...{ file: 'spec.md', stage: null, task: 'spec', path: 'docs/spec.md', commit: 'b', bytes: 6 },
        sha256: createHash('sha256').update('# New\n').digest('hex'),
      },
    ]);
  });

  it('say where a run with stages is, after each task and at the end', async () => {
    const run = recorded();
    const stages: Playbook<unknown>['stages'] = () => [
      { id: 'SPEC', title: 'Spec', state: 'live', by: [], tasks: ['plan'], startedAt: 1 },
    ];
    const { files } = filesOf(run, { stages });
    files.changed(run.read().board);
    const state = (): unknown => JSON.parse(readFileSync(join(folderOf(run), 'state.json'), 'utf8'));
    await vi.waitFor(() => expect(state()).toMatchObject({ status: 'running', current_stage: 'SPEC' }));
    await files.end('interrupted');
    expect(state()).toMatchObject({ status: 'paused', objective_file: 'objective.md', max_seconds: 3600 });
    const [turn = ''] = readdirSync(join(folderOf(run), 'history'));
    expect(readFileSync(join(folderOf(run), 'history', turn), 'utf8')).toContain('stage: "SPEC"');
  });
});

/** The board with a task whose document is delivered with this commit, or not at all. */
function withDocument(board: Board, id: string, path: string, commit: string | null): Board {
  const phase = commit === null ? { at: 'working' } : { at: 'ended', as: 'done', cause: null, why: '' };
  const state = {
    ...{ order: board.tasks.size, depth: 0, at: { added: 0 } },
    task: { id, requires: [{ kind: 'document', path, headings: [] }] },
    work: { phase, commit, authors: ['ada'], leaving: [], attempts: 1, rounds: [] },
  };
  return { ...board, tasks: board.tasks.with(state as unknown as TaskState) };
}
