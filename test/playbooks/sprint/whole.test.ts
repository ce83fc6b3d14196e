import { describe, expect, it } from 'vitest';
import { KINDS } from '../../../src/model/sprint/sprint.ts';
import { playSprint, progressIn, recordsIn, todoStates, turnsOf, WITH_COMMITTER } from './support.ts';

describe('a whole sprint', () => {
  it('plans first, then builds each todo, and reports', () => {
    const played = playSprint();
    expect(played.board.finished).toMatchObject({ outcome: 'done', why: 'Logins work' });
    const turns = turnsOf(played);
    expect(turns.slice(0, 6)).toEqual(['research', 'milestone', 'artifact-sync', 'backlog', 'priorities', 'todos']);
    expect(turns.filter((one) => one.startsWith('b-one'))).toEqual([
      ...['b-one', 'b-one-guide', 'b-one-build', 'b-one-build/architect', 'b-one-build/qa'],
    ]);
    expect(turns.at(-1)).toBe('report');
    expect(todoStates(played)).toEqual(['b-one committed', 'b-two committed']);
    expect(progressIn(played)).toMatchObject({
      state: 'completed',
      title: 'People can log in',
      phase: 'sprint_report',
    });
    const records = recordsIn(played.playbook, played.board);
    expect(records.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      ...[`${KINDS.item} b-one`, `${KINDS.item} b-two`, `${KINDS.itemState} b-one`, `${KINDS.itemState} b-two`],
      `${KINDS.progress} 261128-Sprint-09:00`,
    ]);
  });

  it('has the version controller commit what developers leave', () => {
    const played = playSprint({ roster: WITH_COMMITTER });
    expect(played.board.finished?.outcome).toBe('done');
    expect(turnsOf(played)).toContain('b-one-commit');
    expect(todoStates(played)).toEqual(['b-one committed', 'b-two committed']);
  });
});
