import { describe, expect, it } from 'vitest';
import type { View } from '../../../src/model/plan.ts';
import { adviceRefusal, adviceText } from '../../../src/playbooks/stages/advice.ts';
import { rolesOf } from '../../../src/playbooks/stages/roles.ts';
import { member } from '../simulator.ts';
import { stage } from './support.ts';

type Ask = Parameters<typeof adviceRefusal>[2];

const SYNC = stage('SYNC', { by: ['planner'], asks: { of: ['designer', 'architect'], most: 2 } });
const OPTIONS = { list: { stages: [SYNC, stage('FREE')] }, folder: 'docs/squad/try', reviewRounds: 3 };
const ROSTER = ['planner', 'designer', 'architect', 'builder', 'reviewer'].map((role) => member(role, role));
const ROLES: Readonly<Record<string, string>> = {
  sync: 'planner',
  'sync-2': 'planner',
  free: 'builder',
  mail: 'planner',
  one: 'planner',
  two: 'planner',
};
const ENTRIES = ['one', 'two'];

const ask = (to: readonly string[] = ['designer'], more: Partial<Ask> = {}): Ask => ({
  ...{ id: '', from: 'planner', to, action: 'clarify', via: 'sync' },
  ...more,
});

/** What follows from the last of these questions. */
function refusalOf(asks: readonly Ask[]): string | undefined {
  const mail = asks.map((one, index) => ({ ...one, id: `m-${index}` }));
  const view = {
    roster: ROSTER,
    mail: () => mail,
    task: (id: string) => (ROLES[id] === undefined ? undefined : { id, role: ROLES[id], requires: [] }),
    record: (_: string, id: string) =>
      id === 'mail' || ROLES[id] === undefined
        ? undefined
        : {
            ...{ stage: id === 'free' ? 'FREE' : 'SYNC', pass: 1, as: 'work' },
            ...(ENTRIES.includes(id) ? { entry: id } : {}),
          },
    records: () => [],
  } as unknown as View;
  return adviceRefusal(view, OPTIONS, mail.at(-1) ?? ask());
}

const OTHER = 'SYNC asks only designer or architect for advice';
const ENOUGH = 'SYNC has had its 2 questions of this run; decide yourself, and say what is open';

describe('a question of a stage with `asks`', () => {
  it.each<[string, Ask[], string | undefined]>([
    ['is passed on', [ask()], undefined],
    ['to two of its roles is one question', [ask(['designer', 'architect']), ask()], undefined],
    ['to another role is refused', [ask(['builder'])], OTHER],
    ['to another role beside one of its own is refused', [ask(['designer', 'builder'])], OTHER],
    ['after as many as it has is refused', [ask(), ask(['architect']), ask()], ENOUGH],
    ['counts in each of its tasks', [ask(), ask(['architect'], { via: 'sync-2' }), ask()], ENOUGH],
    [
      'counts for its entry alone',
      [ask(), ask(), ask(['designer'], { via: 'one' }), ask(['designer'], { via: 'two' })],
      undefined,
    ],
    [
      'is refused after as many of its entry',
      Array.from({ length: 3 }, () => ask(['designer'], { via: 'two' })),
      ENOUGH,
    ],
    ['does not count if it was refused', [ask(['builder']), ask(['builder']), ask(), ask()], undefined],
    ['of another action counts too', [ask(), ask(['designer'], { action: 'review' }), ask()], ENOUGH],
    ['to MAIN is none of them', [ask(), ask(), ask(['MAIN'])], undefined],
    ['is no assignment', [ask(), ask(), ask(['builder'], { action: 'assign' })], undefined],
    ['of its reviewer is the reviewer’s own', [ask(), ask(), ask(['builder'], { from: 'reviewer' })], undefined],
    ['of another stage is free', [ask(['planner'], { from: 'builder', via: 'free' })], undefined],
    ['of work that no stage planned is free', [ask(['builder'], { via: 'mail' })], undefined],
    ['of a person is free', [{ ...ask(['builder']), from: 'MAIN', via: undefined }], undefined],
  ])('%s', (_, asks, expected) => {
    expect(refusalOf(asks)).toBe(expected);
  });

  it('is what its brief says, with the roles that an agent has', () => {
    expect(adviceText(SYNC, { roster: ROSTER })).toMatch(
      /^You may ask designer or architect .* passes on 2 questions about this work/,
    );
    expect(adviceText(SYNC, { roster: [member('ada', 'architect')] })).toMatch(/^You may ask architect for advice/);
    expect(adviceText(SYNC, { roster: [] })).toBeUndefined();
    expect(adviceText(stage('FREE'), { roster: ROSTER })).toBeUndefined();
  });

  it('goes to roles that the list has, and that change no file', () => {
    expect(rolesOf(OPTIONS.list)['designer']).toEqual({ delivers: 'none' });
  });
});
