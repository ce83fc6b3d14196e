import { expect, it } from 'vitest';
import { gatherRun } from '../../../src/squad/team/gather-run.ts';
import { definition, RecordedRun } from '../../view/report/support.ts';

it('finds the turns of a run with role, result and cost, and who is in which session', () => {
  const session = { runtime: 'scripted', id: 's-1', home: '/h', workspace: '/w', instructionsHash: 'h' };
  const run = new RecordedRun(definition()).allocate();
  run.turn('login-page', 1, 'bob', {
    outcome: 'completed',
    session,
    structured: { summary: 'built' },
    usage: { costUsd: 0.25 },
  });
  run.turn('login-page', 2, 'bob', { outcome: 'failed', session, text: 'no way' });
  run.turn('login', 1, 'ada');
  const todos = [
    { id: 'login', item: 'b-login', title: 'Log in', state: 'running' as const },
    { id: 'login-page', item: 'b-login-page', title: 'A page to log in', state: 'running' as const },
  ];
  const { turns, sessions, messages } = gatherRun(run.ledger, run.read().row.id, todos);
  expect(turns).toMatchObject([
    {
      id: 'login-page-1',
      role: 'builder',
      title: 'A page to log in (login-page)',
      outcome: 'completed',
      answer: { summary: 'built' },
      costUsd: 0.25,
    },
    { id: 'login-page-2', role: 'builder', outcome: 'failed', text: 'no way', costUsd: null },
    { id: 'login-1', role: 'planner', title: 'Log in (login)' },
  ]);
  expect(turns[2]).not.toHaveProperty('endedAt');
  expect(sessions).toMatchObject([{ role: 'builder', agent: 'bob', session: 's-1', turns: 2 }]);
  expect(messages).toEqual([]);
  expect(gatherRun(run.ledger, 'no-such-run', todos)).toEqual({ turns: [], sessions: [], messages: [] });
  run.close();
});
