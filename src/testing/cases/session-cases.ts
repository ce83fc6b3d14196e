import { completed, insist, openSession, runRefused, runToEnd, type RuntimeCase } from '../runtime-stage.ts';

/** A resumed turn continues the same session, or fails with a named cause. */
export const SESSION_CASES: readonly RuntimeCase[] = [
  {
    title: 'a resumed turn continues the same session and counts only its own use',
    scenario: 'two-turns',
    check: async (stage) => {
      const { first, session } = await openSession(stage);
      completed(first);
      const second = await runToEnd(stage, { session });
      insist(second.result.text.includes('second'), 'the second turn did not know the first', second.result);
      insist(second.result.session?.id === session.id, 'the session changed', second.result);
      const announced = second.events.find((event) => event.type === 'session-announced');
      const resumed = announced?.type === 'session-announced' && announced.resumed;
      insist(resumed, 'the resume was not announced', second.events);
      const before = first.result.usage?.inputTokens ?? 0;
      const after = second.result.usage?.inputTokens ?? 0;
      insist(after > 0 && after < before * 1.7, 'the usage of the first turn was counted again', { before, after });
    },
  },
  {
    title: 'the prompt of a session resumed in another folder names the change',
    scenario: 'two-turns',
    check: async (stage) => {
      const { session } = await openSession(stage);
      const workspace = await stage.bench.otherWorkspace();
      const second = await runToEnd(stage, { session, workspace });
      insist(stage.bench.received().includes(`It is now ${workspace.path}`), 'the change of folder was not named');
      const { session: moved } = second.result;
      insist(moved?.workspace === workspace.path, 'the session does not name its last folder', second.result);
    },
  },
  {
    title: 'an unknown session is never replaced by a new one',
    scenario: 'two-turns',
    check: async (stage) => {
      const { session } = await openSession(stage);
      const id = session.id.replace(/[0-9a-f]/g, (digit) => (digit === 'a' ? 'b' : 'a'));
      const end = await stage.run(stage.request({ session: { ...session, id } }));
      insist(end.result.outcome !== 'completed', 'a new session replaced the old one', end.result);
      insist(end.result.failure?.kind === 'session-not-found', 'the failure has another type', end.result);
      insist(!end.result.failure.mayHaveActed, 'nothing can have happened', end.result);
    },
  },
  {
    title: 'other instructions for an open session are refused before anything runs',
    scenario: 'two-turns',
    check: async (stage) => {
      const { session } = await openSession(stage);
      const end = await stage.run(stage.request({ session, instructions: 'You are another agent now.' }));
      insist(end.result.outcome === 'refused', 'the turn was not refused', end.result);
      insist(end.result.failure?.kind === 'instructions-changed', 'the failure has another type', end.result);
      insist(end.identity === undefined, 'a process was spawned');
    },
  },
  {
    title: 'a session of another runtime is refused by name',
    scenario: 'answer',
    check: async (stage) => {
      const { session } = await openSession(stage);
      await runRefused(stage, 'session', { session: { ...session, runtime: 'someone-elses' } });
    },
  },
];
