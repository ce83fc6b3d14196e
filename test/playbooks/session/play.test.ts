import { describe, expect, it } from 'vitest';
import type { Board } from '../../../src/model/plan/board.ts';
import type { PlanNews } from '../../../src/model/plan/event.ts';
import { tasksToCome } from '../../../src/playbooks/stages/stage-views.ts';
import { createSessionPlaybook } from '../../../src/playbooks/session/index.ts';
import type { Session } from '../../../src/playbooks/session/session.ts';
import { sessionList } from '../../../src/playbooks/session/session-list.ts';
import { DIAMOND, type SessionAbout } from '../../support/session-folder.ts';
import { member } from '../simulator.ts';
import { castFor, playSession, sessionFrom, viewOf } from './support.ts';

const started = (session: Session, about: Parameters<typeof playSession>[1] = {}) => {
  const played = playSession(session, about);
  return { played, turns: played.turns.map(({ task }) => task) };
};

const doneOf = (played: ReturnType<typeof playSession>) => viewOf(played).records('session-done');

describe('a session', () => {
  it('plays as its graph says, and notes what is done in the order of its end', () => {
    const { played, turns } = started(sessionFrom(DIAMOND));
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    expect(turns.toSorted()).toEqual(DIAMOND.tasks.map(({ id }) => id.toLowerCase()).toSorted());
    expect(turns[0]).toBe('spec-001');
    expect(turns.slice(1, 3).toSorted()).toEqual(['doc-001', 'impl-001']);
    expect(turns.at(-1)).toBe('check-001');
    const ends = played.events.flatMap((event) => (event.type === 'task-done' ? [event.task] : []));
    expect(doneOf(played)).toEqual(ends.map((task) => ({ id: task, value: { task } })));
    expect(ends).toHaveLength(6);
  });

  it('lets nobody hand its task on: it would count as done before its work is', () => {
    const { tools } = createSessionPlaybook(sessionFrom(DIAMOND));
    for (const { name } of DIAMOND.roles)
      expect(tools(name).toSorted()).toEqual(['ask', 'done', 'fail', 'report', 'send']);
  });

  it('gives each task the work of its role', () => {
    const { board } = playSession(sessionFrom(DIAMOND));
    const of = (id: string) => board.tasks.get(id)?.task;
    expect(of('spec-001')).toMatchObject({
      title: 'SPEC-001: Do SPEC-001',
      ...{ role: 'analyst', workspace: { read: 'run' }, integrate: false, session: 'new', requires: [] },
      output: { schema: 'worker', repairs: 1 },
    });
    expect(of('impl-002')).toMatchObject({
      ...{ workspace: 'own', integrate: true, session: 'agent', agent: 'implementer', needs: ['impl-001'] },
      ...{ requires: [{ kind: 'commit' }], output: { schema: 'worker', repairs: 1 } },
    });
    expect(of('doc-001')).toMatchObject({ workspace: 'own', session: 'new', requires: [], mayChangeNothing: true });
  });

  it.each<[string | undefined, string]>([
    ['read-only', 'reads'],
    [' Read-Only ', 'reads'],
    ['code-gen', 'code'],
    ['code-gen (docs)', 'docs'],
    ['code-gen (tests)', 'code'],
    ['validation', 'may'],
    [undefined, 'may'],
    ['read-only-ish', 'may'],
  ])('knows the responsibility %j', (responsibility, kind) => {
    const roles = [{ name: 'worker', ...(responsibility === undefined ? {} : { responsibility }) }];
    const [stage] = sessionList(sessionFrom({ roles, tasks: [{ id: 'A', role: 'worker' }] })).stages;
    const makes = {
      reads: { answer: 'worker' },
      code: { code: true, answer: 'worker' },
      docs: { code: true, answer: 'worker', mayChangeNothing: true },
      may: { code: true, answer: 'worker', mayChangeNothing: true },
    }[kind];
    expect(stage?.makes).toEqual(makes);
  });

  it('puts an inner loop into one session of one agent, and gives other tasks of a role to all its agents', () => {
    const tasks = ['A', 'B', 'C'].map((id) => ({ id, role: 'builder' }));
    const [one, two] = [member('one', 'builder'), member('two', 'builder')];
    const loop = playSession(sessionFrom({ roles: [{ name: 'builder', inner_loop: true }], tasks }), {
      roster: [one, two],
    });
    expect(loop.turns.map(({ agent, session }) => `${agent} in ${session.key}`)).toEqual(
      tasks.map(() => 'one in agent/one'),
    );
    expect(mostAtOnce(loop)).toBe(1);
    const free = playSession(sessionFrom({ roles: [{ name: 'builder' }], tasks }), { roster: [one, two] });
    expect(new Set(free.turns.map(({ agent }) => agent))).toEqual(new Set(['one', 'two']));
    expect(new Set(free.turns.map(({ session }) => session.key)).size).toBe(3);
    expect(mostAtOnce(free)).toBe(3);
  });

  it('runs only the half that was not done elsewhere', () => {
    const session = sessionFrom({ ...DIAMOND, done: ['SPEC-001', 'IMPL-001', 'DOC-001'] });
    const { played, turns } = started(session);
    expect(turns).toEqual(['impl-002', 'impl-003', 'check-001']);
    expect([...played.board.tasks.values()].map(({ task }) => task.id)).toEqual(turns);
    expect(doneOf(played).map(({ id }) => id)).toEqual(turns);
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
  });

  it('has nothing to do where all was done', () => {
    const { played, turns } = started(sessionFrom({ ...DIAMOND, done: DIAMOND.tasks.map(({ id }) => id) }));
    expect(turns).toEqual([]);
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
  });

  it('cancels what needs a failed task and nothing else, and says so', () => {
    const turn = ({ task }: { task: string }) => (task === 'impl-002' ? FAILS : undefined);
    const { played } = started(sessionFrom(DIAMOND), { script: { turn } });
    expect(
      doneOf(played)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(['doc-001', 'impl-001', 'spec-001']);
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'failed' });
    const why = played.end.next === 'finish' ? played.end.why : '';
    expect(why).toBe('IMPL-002: model-refused: no\n2 tasks that need it were cancelled');
  });

  it('has the merged work repaired by the people of its code, in the session of the last', () => {
    const gate = ({ tasks }: { tasks: { has(id: string): boolean } }) =>
      tasks.has('fix-1') ? {} : { failing: ['make test'] };
    const played = playSession(sessionFrom(DIAMOND), { script: { gate }, commands: ['make test'] });
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    expect(played.board.tasks.get('fix-1')?.task).toMatchObject({
      ...{ role: 'implementer', session: { of: 'impl-003' }, requires: [{ kind: 'commit' }] },
    });
    expect(played.turns.at(-1)).toMatchObject({ task: 'fix-1', session: { key: 'agent/implementer', resume: true } });
    expect(doneOf(played)).toHaveLength(6);
  });

  it.each<[string, SessionAbout, string, unknown]>([
    [
      'whose work ended last, wherever it stands in the list',
      {
        roles: [
          { name: 'left', responsibility: 'code-gen' },
          { name: 'right', responsibility: 'code-gen' },
        ],
        tasks: [
          { id: 'L-1', role: 'left', needs: ['R-1'] },
          { id: 'R-1', role: 'right' },
        ],
      },
      'left',
      { of: 'l-1' },
    ],
    [
      'that worked in this run, and not those of a task that was done before',
      {
        ...{ roles: DIAMOND.roles, done: ['IMPL-002'] },
        tasks: [
          { id: 'IMPL-001', role: 'implementer' },
          { id: 'IMPL-002', role: 'implementer' },
        ],
      },
      'implementer',
      { of: 'impl-001' },
    ],
    [
      'of the last task if none of them worked in this run',
      {
        roles: DIAMOND.roles,
        done: ['IMPL-001'],
        tasks: [
          { id: 'IMPL-001', role: 'implementer' },
          { id: 'SPEC-001', role: 'analyst' },
        ],
      },
      'implementer',
      'new',
    ],
  ])('has the merged work repaired by people of code %s', (_, about, role, thread) => {
    const gate = ({ tasks }: { tasks: { has(id: string): boolean } }) =>
      tasks.has('fix-1') ? {} : { failing: ['make test'] };
    const played = playSession(sessionFrom(about), { script: { gate }, commands: ['make test'] });
    expect(played.board.tasks.get('fix-1')?.task).toMatchObject({ role, session: thread });
  });

  it('lets an operator try a failed task again, and plays what needs it', () => {
    const failed = new Set(['impl-002']);
    const turn = ({ task }: { task: string }) => (failed.has(task) ? FAILS : undefined);
    let isTried = false;
    const outside = (board: Board): PlanNews | undefined => {
      if (isTried || board.tasks.get('impl-002')?.work.phase.at !== 'ended') return undefined;
      isTried = true;
      failed.clear();
      const intervention = { verb: 'retry', task: 'impl-002', fresh: false } as const;
      return { type: 'intervention', intervention, by: 'a person' };
    };
    const played = playSession(sessionFrom(DIAMOND), { script: { turn, outside } });
    expect(isTried).toBe(true);
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    expect(doneOf(played)).toHaveLength(6);
  });

  it('counts the tasks that are still to come', () => {
    const played = playSession(sessionFrom({ ...DIAMOND, done: ['SPEC-001'] }));
    const counts = played.steps.map(({ board }) => board.tasks.size + tasksToCome(board));
    expect(new Set(counts)).toEqual(new Set([5]));
  });

  it('keeps braces of a subject, and shows people their own ids', () => {
    const about: SessionAbout = {
      roles: [{ name: 'Schreiber·in' }],
      tasks: [{ id: 'Ä/1 {of:X}', role: 'Schreiber·in', subject: 'Say {objective} and {{x}}' }],
    };
    const session = sessionFrom(about);
    const { board } = playSession(session);
    const [state] = [...board.tasks.values()];
    expect(state?.task.id).toBe(session.tasks[0]?.slug);
    expect(state?.task.title).toBe('Ä/1 {of:X}: Say {objective} and {{x}}');
    expect(state?.task.brief.text).toContain('Say {objective} and {{x}}');
    expect(castFor(session)).toHaveLength(1);
  });
});

const FAILS = {
  outcome: 'failed',
  failure: { kind: 'model-refused', message: 'no', mayHaveActed: false },
  text: '',
} as const;

function mostAtOnce({ steps }: ReturnType<typeof playSession>): number {
  return Math.max(
    ...steps.map(({ board }) => board.tasks.open.filter(({ work }) => work.author.state.at === 'live').length),
  );
}
