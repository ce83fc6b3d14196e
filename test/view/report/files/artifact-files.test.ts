import { expect, it } from 'vitest';
import { deliveredDocuments, indexFile } from '../../../../src/view/report/files/artifact-files.ts';
import { stageIndex } from '../../../../src/view/report/files/stage-of.ts';
import type { TaskState } from '../../../../src/model/plan/board.ts';
import { TaskTable } from '../../../../src/model/plan/task-table.ts';

function task(id: string, order: number, path: string, ended: { as: 'done' | 'failed'; commit: string | null } | null) {
  const phase = ended === null ? { at: 'working' } : { at: 'ended', as: ended.as, cause: null, why: '' };
  return {
    ...{ order, depth: 0, at: { added: 0 } },
    task: { id, requires: [{ kind: 'commit' }, { kind: 'document', path, headings: [] }] },
    work: { phase, commit: ended?.commit ?? 'kept', leaving: [], attempts: 1 },
  } as unknown as TaskState;
}

function documents(...tasks: TaskState[]) {
  const table = tasks.reduce((all, one) => all.with(one), new TaskTable());
  return deliveredDocuments({ tasks: table }, (id) => (id === 'spec' ? 'SPEC' : undefined));
}

it('lists what is delivered, in the order of the plan, each under its own name', () => {
  const found = documents(
    task('spec', 0, 'docs/squad/x/spec.md', { as: 'done', commit: 'a' }),
    task('deep', 1, 'docs/squad/x/deep/Spec.md', { as: 'done', commit: 'b' }),
    task('live', 2, 'docs/squad/x/live.md', null),
    task('bad', 3, 'docs/squad/x/bad.md', { as: 'failed', commit: 'd' }),
  );
  expect(found).toEqual([
    { name: 'spec.md', stage: 'SPEC', task: 'spec', path: 'docs/squad/x/spec.md', commit: 'a' },
    { name: 'Spec-2.md', stage: null, task: 'deep', path: 'docs/squad/x/deep/Spec.md', commit: 'b' },
  ]);
});

it('leaves the name of the index to the index', () => {
  const found = documents(task('api', 0, 'docs/squad/x/index.json', { as: 'done', commit: 'a' }));
  expect(found).toMatchObject([{ name: 'index-2.json' }]);
});

it('has the name of a document before those of the plan before it are delivered', () => {
  const first = documents(task('a', 0, 'a/n.md', null), task('b', 1, 'b/n.md', { as: 'done', commit: 'b' }));
  expect(first).toMatchObject([{ name: 'n-2.md', task: 'b' }]);
});

it('takes the last task that delivered the document, and the one before it while that is at work', () => {
  const old = task('spec', 0, 'spec.md', { as: 'done', commit: 'a' });
  expect(documents(old, task('again', 1, 'spec.md', { as: 'done', commit: 'b' }))).toMatchObject([{ commit: 'b' }]);
  expect(documents(old, task('again', 1, 'spec.md', null))).toMatchObject([{ commit: 'a', name: 'spec.md' }]);
});

it('S13: is an index that any reader of JSON takes, and a name that is a plain one', () => {
  const [found] = documents(task('x', 0, 'docs/..\u202e\u001b[2J/CON', { as: 'done', commit: 'a' }));
  expect(found?.name).toBe('_CON');
  const { text } = indexFile(found === undefined ? [] : [{ ...found, sha256: 'f', bytes: 3 }]);
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  expect(JSON.parse(text)).toEqual([
    {
      ...{ file: '_CON', stage: null, task: 'x', path: 'docs/..\u202e\u001b[2J/CON', commit: 'a' },
      ...{ sha256: 'f', bytes: 3 },
    },
  ]);
});

it('knows the stage of a task’s work and of its review', () => {
  const row = { title: '', state: 'live', by: [] } as const;
  const stageOf = stageIndex([
    { ...row, id: 'SPEC', tasks: ['spec', 'spec-2'] },
    { ...row, id: 'SPEC_REVIEW', tasks: ['spec', 'spec-2'], round: { taken: 1, cap: 4 } },
    { ...row, id: 'POST_REVIEW', tasks: ['post-review'], round: { taken: 1, cap: 4 } },
  ]);
  expect(stageOf('spec-2')).toBe('SPEC');
  expect(stageOf('spec-2', true)).toBe('SPEC_REVIEW');
  expect(stageOf('post-review')).toBe('POST_REVIEW');
  expect(stageOf('judge')).toBeUndefined();
});
