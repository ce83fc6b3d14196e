import { describe, expect, it } from 'vitest';
import type { FolderMoment } from '../../../src/model/folder.ts';
import type { TaskView, View } from '../../../src/model/plan.ts';
import { sessionFiles, stateText } from '../../../src/playbooks/session/session-files.ts';
import type { Session } from '../../../src/playbooks/session/session.ts';
import { DIAMOND, sessionTexts } from '../../support/session-folder.ts';
import { SessionBoard, sessionWith } from './session-board.ts';

const TASKS = DIAMOND.tasks.map(({ id }) => id);

function sessionOf(state: string, completed: readonly string[] = []): Session {
  const role = (name: string) => ({
    name,
    slug: name.toLowerCase(),
    prefix: '',
    responsibility: null,
    innerLoop: false,
  });
  return {
    ...{ id: 'TC-1', team: 'team', description: 'Make things', status: 'active' },
    roles: ['Analyst', 'implementer'].map((name) => ({ ...role(name), file: '', text: '' })),
    tasks: TASKS.map((id) => ({ id, slug: id.toLowerCase(), subject: '', role: 'analyst', needs: [] })),
    completed: completed.map((id) => id.toLowerCase()),
    start: { state } as Session['start'],
  };
}

/** `done`: ids, in the order of their ends. `lost`: of those, what is not done any more. */
function viewOf({ done = [], lost = [], busy = [] }: { done?: string[]; lost?: string[]; busy?: string[] }): View {
  const records = done.map((id) => ({ id: id.toLowerCase(), value: { task: `task-${id}` } }));
  return {
    roster: ['analyst', 'implementer'].map((role) => ({ name: role, role, busy: busy.includes(role) })),
    records: (where: string) => (where === 'session-done' ? records : []),
    task: (id: string) => ({ status: lost.some((one) => id === `task-${one}`) ? 'failed' : 'done' }) as TaskView,
  } as unknown as View;
}

function stateOf(
  of: Parameters<typeof viewOf>[0],
  status: FolderMoment['status'] = 'active',
  completed: string[] = [],
): Record<string, unknown> {
  const text = sessionTexts({ ...DIAMOND, done: completed })['team-session.json'] ?? '';
  return JSON.parse(stateText(sessionOf(text, completed), viewOf(of), { status })) as Record<string, unknown>;
}

describe('team-session.json', () => {
  it('says what is done in its order, and who is at work, in the words of its people', () => {
    expect(
      stateOf({ done: ['SPEC-001', 'DOC-001', 'IMPL-001'], busy: ['analyst'] }, 'active', ['SPEC-001']),
    ).toMatchObject({
      status: 'active',
      active_workers: ['Analyst'],
      completed_tasks: ['SPEC-001', 'DOC-001', 'IMPL-001'],
      pipeline: { tasks_total: 6, tasks_completed: 3 },
    });
  });

  it.each<[status: FolderMoment['status'], done: string[], expected: string]>([
    ['active', TASKS, 'active'],
    ['paused', TASKS, 'paused'],
    ['paused', [], 'paused'],
    ['finished', TASKS, 'completed'],
    ['finished', TASKS.slice(1), 'paused'],
  ])('is of status %s with %j done: %s', (status, done, expected) => {
    expect(stateOf({ done }, status)['status']).toBe(expected);
  });

  it('counts no task that was done and was taken up again', () => {
    const state = stateOf({ done: ['SPEC-001', 'DOC-001'], lost: ['SPEC-001'] });
    expect(state).toMatchObject({ completed_tasks: ['DOC-001'], pipeline: { tasks_completed: 1 } });
  });

  it('keeps everything that squad does not know, and where it was', () => {
    const more = { '7': 'seven', zeta: { b: 1, a: [1.5] } };
    const before = sessionTexts({ ...DIAMOND, extra: more })['team-session.json'] ?? '';
    const after = stateText(sessionOf(before), viewOf({ done: ['SPEC-001'] }), { status: 'paused' });
    const expected = before
      .replace('"status": "active"', '"status": "paused"')
      .replace('"tasks_completed": 0', '"tasks_completed": 1')
      .replace('"completed_tasks": []', '"completed_tasks": [\n    "SPEC-001"\n  ]');
    expect(after).toBe(expected);
  });

  it('gets the keys that it lacks', () => {
    const after = stateText(sessionOf('{"status":"paused"}'), viewOf({}), { status: 'active' });
    expect(JSON.parse(after)).toEqual({
      ...{ status: 'active', active_workers: [], completed_tasks: [] },
      pipeline: { tasks_total: 6, tasks_completed: 0 },
    });
  });
});

it('says of the files of a session what they held at the start', () => {
  const hashes = { 'team-session.json': 'a'.repeat(64), 'wisdom/issues.md': 'b'.repeat(64) };
  const board = new SessionBoard(sessionWith(['a'], { hashes }));
  board.answer('a', { issues: ['One.'], learnings: ['Two.'] });
  const files = sessionFiles(board.session, board.view(), { status: 'active' });
  expect(files.map(({ path, held }) => [path, held])).toEqual([
    ['wisdom/learnings.md', undefined],
    ['wisdom/issues.md', 'b'.repeat(64)],
    ['team-session.json', 'a'.repeat(64)],
  ]);
});
