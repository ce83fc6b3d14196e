import { describe, expect, it } from 'vitest';
import { renderAuthorPrompt } from '../../../src/rules/prompts/author-prompt.ts';
import { renderReviewPrompt } from '../../../src/rules/prompts/review-prompt.ts';
import type { TaskState } from '../../../src/model/plan/board.ts';
import type { Requirement } from '../../../src/model/plan/task.ts';
import type { Prompt } from '../../../src/model/plan/work.ts';
import { renderInstructions, roleIn } from '../../../src/squad/preflight/roles.ts';
import { createCouncilPlaybook } from '../../../src/playbooks/council/index.ts';
import { createDeliveryPlaybook } from '../../../src/playbooks/delivery/index.ts';
import { applyChanges } from '../../../src/rules/apply-changes.ts';
import { createBoard } from '../../../src/rules/board.ts';
import { english } from '../../support/english.ts';
import { factsOf, member } from '../../playbooks/simulator.ts';
import { newTask } from '../support.ts';

const OBJECTIVE = { title: '目标', text: '# 目标' };

const REQUIREMENTS: readonly Requirement[] = [
  { kind: 'commit' },
  { kind: 'diff' },
  { kind: 'diff', paths: ['a'] },
  { kind: 'only', paths: ['a', 'b'] },
  { kind: 'untouched', paths: ['a'], instead: '不要动' },
  { kind: 'file', path: 'a.md' },
  { kind: 'document', path: 'a.md', headings: [] },
  { kind: 'document', path: 'a.md', headings: ['一'] },
  { kind: 'absent', path: 'a' },
  { kind: 'command', run: 'npm test' },
  { kind: 'pr' },
];
const FROM = ['review', 'evidence', 'conflict', 'verify', 'playbook', 'person'] as const;
const PROMPTS: readonly Prompt[] = [
  { why: 'start' },
  ...FROM.map((from) => ({ why: 'feedback', from, text: '不对' }) as const),
  { why: 'repair', text: '格式' },
  { why: 'answered' },
  { why: 'continue', text: '断电' },
];

function taskWith(workspace: TaskState['task']['workspace']): TaskState {
  const board = createBoard(factsOf([member('bob', 'builder')]));
  const { tasks } = applyChanges(board, [{ do: 'add-task', task: newTask('a') }], { seq: 1, at: 1 }).board;
  const state = tasks.get('a');
  if (state === undefined) throw new Error('the task was refused');
  const brief = { text: '做这件事。', files: ['a.md'] };
  return { ...state, task: { ...state.task, title: '任务', requires: [...REQUIREMENTS], workspace, brief } };
}

describe('a run in Chinese', () => {
  it.each(PROMPTS)('asks an author in Chinese alone: %j', (prompt) => {
    for (const workspace of ['own', 'none', { read: 'run' }] as const) {
      const delivered = [{ id: 'b', title: '别的' }];
      const about = { state: taskWith(workspace), prompt, resumed: false, objective: OBJECTIVE, background: '' };
      const text = renderAuthorPrompt({ ...about, delivered, locale: 'zh' });
      expect(english(text)).toEqual([]);
      expect(english(renderAuthorPrompt({ ...about, delivered, locale: 'en' }))).not.toEqual([]);
    }
  });

  it('asks a reviewer in Chinese alone', () => {
    const about = { state: taskWith('own'), resumed: false, objective: OBJECTIVE, commit: 'c', since: 'b' };
    expect(english(renderReviewPrompt({ ...about, prompt: { why: 'start' }, locale: 'zh' }))).toEqual([]);
    const repair = { why: 'repair', text: '格式' } as const;
    expect(english(renderReviewPrompt({ ...about, prompt: repair, resumed: true, locale: 'zh' }))).toEqual([]);
  });

  it.each(['main', 'member', 'builder', 'reviewer', 'other'])('instructs in Chinese alone: %s', (role) => {
    for (const access of ['read-only', 'edit'] as const) {
      for (const commits of [true, false]) {
        const of = roleIn(createCouncilPlaybook(), role);
        const text = renderInstructions({ name: 'one', role, access, commits }, of, undefined, 'zh');
        expect(english(text)).toEqual([]);
      }
    }
  });

  it('instructs in English alone where the playbook knows its role in no other language', () => {
    const role = roleIn(createDeliveryPlaybook(), 'planner');
    const text = renderInstructions({ name: 'one', role: 'planner', access: 'edit' }, role, undefined, 'zh');
    expect(text).not.toMatch(/[一-鿿]/);
  });
});
