import { describe, expect, it } from 'vitest';
import { refuseIntervention } from '../../src/rules/intervene.ts';
import type { Board } from '../../src/model/plan/board.ts';
import type { Intervention } from '../../src/model/plan/intervention.ts';
import type { Phase } from '../../src/model/plan/work.ts';
import { boardWith, stateOf } from './support.ts';

const ON: Readonly<Record<string, Phase>> = {
  working: { at: 'working' },
  reviewing: { at: 'reviewing', commit: 'c', slots: [] },
  gathering: { at: 'gathering' },
  queued: { at: 'in-queue', commit: 'c', since: 1 },
  integrating: { at: 'integrating', commit: 'c', since: 1 },
  verifying: { at: 'verifying', commit: 'c', candidate: 'm', since: 1 },
  advancing: { at: 'advancing', commit: 'c', candidate: 'm', since: 1 },
  stopping: { at: 'stopping', as: 'failed', why: '' },
  done: { at: 'ended', as: 'done', cause: null, why: '' },
  failed: { at: 'ended', as: 'failed', cause: 'attempts', why: '' },
  skipped: { at: 'ended', as: 'skipped', cause: null, why: '' },
  cancelled: { at: 'ended', as: 'cancelled', cause: null, why: '' },
};
const BOARD = boardWith(Object.entries(ON).map(([id, phase]) => stateOf(id, {}, { phase })));
const OVER: Board = { ...BOARD, finished: { outcome: 'failed', why: 'it broke' } };
const DUE: Board = { ...BOARD, facts: { ...BOARD.facts, objective: { ...BOARD.facts.objective, deadline: 5 } } };
const PAUSED: Board = { ...BOARD, pauses: new Map([['agent/bob', { verb: 'pause', by: 'ada', at: 1 }]]) };

const retry = (task: string, agent?: string) =>
  ({ verb: 'retry', task, fresh: false, ...(agent && { agent }) }) as Intervention;
const skip = (task: string): Intervention => ({ verb: 'skip', task, why: '' });
const cancel = (on: string): Intervention => ({ verb: 'cancel', on, why: '' });
const override = (task: string, as: 'done' | 'failed'): Intervention => ({ verb: 'override', task, as, why: '' });
const change = (on: string, also?: string[]) =>
  ({ verb: 'switch', on, runtime: 'x', ...(also && { also }) }) as Intervention;
const reload = { verb: 'reload', setup: [], verify: [] } as unknown as Intervention;
const MOMENT = 'is being stopped; try again in a moment';
const CHECKED = 'is being checked and delivered; try again when that is done';
const GONE = 'the run has finished: it broke';

describe('why a command of an operator is refused', () => {
  it.each<[Intervention, Board, string | undefined]>([
    [{ verb: 'pause', on: 'run' }, BOARD, undefined],
    [{ verb: 'pause', on: 'agent/bob' }, BOARD, undefined],
    [{ verb: 'pause', on: 'task/working' }, BOARD, undefined],
    [{ verb: 'pause', on: 'run' }, OVER, GONE],
    [{ verb: 'resume', on: 'agent/bob' }, PAUSED, undefined],
    [{ verb: 'resume', on: 'agent/bob' }, BOARD, 'agent bob is not paused'],
    [{ verb: 'resume', on: 'run' }, BOARD, 'run is not paused'],
    [{ verb: 'past-deadline' }, DUE, undefined],
    [{ verb: 'past-deadline' }, BOARD, 'its objective has no deadline'],
    [{ verb: 'past-deadline' }, { ...DUE, finished: OVER.finished }, GONE],
    [{ verb: 'drain' }, BOARD, undefined],
    [{ verb: 'drain' }, OVER, GONE],
    [{ verb: 'stop' }, OVER, GONE],
    [cancel('run'), BOARD, undefined],
    [cancel('run'), OVER, GONE],
    [cancel('task/working'), BOARD, undefined],
    [cancel('task/failed'), BOARD, 'failed is failed already'],
    [cancel('task/done'), BOARD, 'done is delivered already'],
    [retry('working'), BOARD, undefined],
    [retry('reviewing'), BOARD, undefined],
    [retry('failed'), BOARD, undefined],
    [retry('done'), BOARD, 'done is delivered; start a new run for more work'],
    [retry('stopping'), BOARD, `stopping ${MOMENT}`],
    [retry('gathering'), BOARD, `gathering ${CHECKED}`],
    [retry('queued'), BOARD, `queued ${CHECKED}`],
    [retry('integrating'), BOARD, `integrating ${CHECKED}`],
    [retry('verifying'), BOARD, `verifying ${CHECKED}`],
    [retry('advancing'), BOARD, `advancing ${CHECKED}`],
    [retry('working', 'bob'), BOARD, undefined],
    [retry('working', 'rex'), BOARD, 'working needs the role builder, which rex does not have: bob'],
    [skip('working'), BOARD, undefined],
    [skip('advancing'), BOARD, 'advancing is being delivered'],
    [skip('stopping'), BOARD, `stopping ${MOMENT}`],
    [skip('failed'), BOARD, undefined],
    [skip('cancelled'), BOARD, undefined],
    [skip('skipped'), BOARD, 'skipped is skipped already'],
    [skip('done'), BOARD, 'done is delivered already'],
    [override('failed', 'done'), BOARD, undefined],
    [override('cancelled', 'done'), BOARD, undefined],
    [override('skipped', 'done'), BOARD, undefined],
    [override('done', 'done'), BOARD, 'done is done already'],
    [override('done', 'failed'), BOARD, 'done is delivered already'],
    [override('gathering', 'done'), BOARD, 'the work of gathering is being checked; try again in a moment'],
    [override('gathering', 'failed'), BOARD, undefined],
    [override('working', 'done'), OVER, undefined],
    [override('working', 'failed'), OVER, GONE],
    [change('agent/bob'), BOARD, undefined],
    [change('run'), BOARD, 'an agent or a task is switched, not the run'],
    [change('agent/bob', ['run']), BOARD, 'an agent or a task is switched, not the run'],
    [change('agent/bob', ['task/working']), BOARD, undefined],
    [reload, OVER, undefined],
  ])('%j', (intervention, board, expected) => expect(refuseIntervention(board, intervention)).toBe(expected));

  it.each<[Intervention, string]>([
    [{ verb: 'pause', on: 'agent/bb' }, 'bb'],
    [{ verb: 'pause', on: 'task/workin' }, 'workin'],
    [{ verb: 'resume', on: 'task/workin' }, 'workin'],
    [cancel('task/workin'), 'workin'],
    [retry('workin'), 'workin'],
    [retry('working', 'eve'), 'eve'],
    [skip('workin'), 'workin'],
    [change('agent/bb'), 'bb'],
  ])('%j names what there is not', (intervention, name) => {
    const refused = refuseIntervention(BOARD, intervention);
    expect(refused).toMatch(new RegExp(`^there is no (agent|task) "?${name}"?`));
  });

  it('lets work that is not integrated be called done while it is looked at', () => {
    const board = boardWith([stateOf('a', { integrate: false }, { phase: { at: 'gathering' } })]);
    expect(refuseIntervention(board, override('a', 'done'))).toBeUndefined();
  });

  it('says where no agent has the role', () => {
    const board = boardWith([stateOf('a', { role: 'cook' })]);
    expect(refuseIntervention(board, retry('a', 'bob'))).toBe(
      'a needs the role cook, which bob does not have: no agent has it',
    );
  });
});
