import { expect, it } from 'vitest';
import { toolTarget } from '../../src/text/tool-target.ts';

const FOLDER = '/home/ada/.local/state/squad/greeting-23dd7019/my-run/greet';

it.each<[string, unknown, string]>([
  ['a file in the folder of a task', { file_path: `${FOLDER}/src/greet.sh` }, 'src/greet.sh'],
  ['the folder itself', { path: `${FOLDER}/` }, `${FOLDER}/`],
  ['changed files', { changes: [{ path: `${FOLDER}/a.ts` }, { path: `${FOLDER}/b.ts` }] }, 'a.ts, b.ts'],
  ['a file of another program of that name', { path: '/srv/squad/notes/2026/a/b.md' }, '/srv/squad/notes/2026/a/b.md'],
  ['a command before anything else', { description: 'look', command: 'ls' }, 'ls'],
  ['a list of arguments', { argv: ['git', 'status', 1] }, 'git status'],
  ['a name that is not a text', { path: 3, query: 'sum' }, 'sum'],
  ['no input', null, ''],
])('names %s', (_, input, target) => {
  expect(toolTarget(input)).toBe(target);
});

it('reads and shows only the start of a long text', () => {
  expect(toolTarget({ command: 'x'.repeat(100_000) })).toHaveLength(300);
  expect(toolTarget({ path: '/squad/'.repeat(100_000) })).toHaveLength(300);
});
