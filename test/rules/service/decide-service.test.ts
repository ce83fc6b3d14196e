import { describe, expect, it } from 'vitest';
import { decideService, type ServiceView } from '../../../src/rules/service/decide-service.ts';

const MINUTE = 60_000;
const now = Date.parse('2026-11-28T02:00:30Z');
const slot = Date.parse('2026-11-28T02:00:00Z');
const nightly = { name: 'nightly', cron: '0 2 * * *', timezone: 'UTC', after: slot - MINUTE };
const hourly = { name: 'hourly', cron: '0 * * * *', timezone: 'UTC', after: slot };
const idle: ServiceView = { now, schedules: [], engine: 'none', canMove: false };

const TABLE: [title: string, view: Partial<ServiceView>, decision: object][] = [
  ['nothing is there', {}, { do: 'wait', until: undefined }],
  ['a slot is due', { schedules: [nightly] }, { do: 'submit', schedule: 'nightly', slot }],
  [
    'a slot is due that has to be skipped',
    { schedules: [{ ...nightly, skip: 'its last run is open' }] },
    { do: 'skip', schedule: 'nightly', slot, why: 'its last run is open' },
  ],
  [
    'two slots are due: the earlier one first, then by name',
    {
      schedules: [
        nightly,
        { ...hourly, after: slot - 1, cron: '59 1 * * *' },
        { ...nightly, name: 'a', after: slot - 1 },
      ],
    },
    { do: 'submit', schedule: 'a', slot },
  ],
  ['its slot is settled', { schedules: [{ ...nightly, after: slot }] }, { do: 'wait', until: slot + 1440 * MINUTE }],
  [
    'the first of two is next',
    { schedules: [{ ...nightly, after: slot }, hourly] },
    { do: 'wait', until: slot + 60 * MINUTE },
  ],
  [
    'the repository was busy for a slot',
    { schedules: [{ ...nightly, notBefore: now + MINUTE }, hourly] },
    { do: 'wait', until: now + MINUTE },
  ],
  ['the clock was set back by a day', { schedules: [nightly], now: now - 1440 * MINUTE }, { do: 'wait', until: slot }],
  ['a run can move', { canMove: true }, { do: 'start-engine' }],
  [
    'a slot comes before the engine',
    { canMove: true, schedules: [nightly] },
    { do: 'submit', schedule: 'nightly', slot },
  ],
  ['the service’s own engine is at work', { canMove: true, engine: 'service' }, { do: 'wait', until: undefined }],
  ['an engine of another terminal is at work', { canMove: true, engine: 'other' }, { do: 'wait', until: undefined }],
  ['an engine has failed', { canMove: true, engineNotBefore: now + 1 }, { do: 'wait', until: now + 1 }],
  ['the time after a failure has passed', { canMove: true, engineNotBefore: now }, { do: 'start-engine' }],
  ['a cap of the day is reached', { cappedUntil: now + 5 }, { do: 'wait', until: now + 5 }],
  [
    'a cap of the day is reached, and a slot is due: it waits for the next day',
    { cappedUntil: now + 5, schedules: [nightly], wakesAt: now + 9 },
    { do: 'wait', until: now + 5 },
  ],
  [
    'no further run may begin, but one that has begun can move',
    { canMove: true, cappedUntil: now + 5 },
    { do: 'start-engine' },
  ],
  ['the next day has begun', { cappedUntil: now, schedules: [nightly] }, { do: 'submit', schedule: 'nightly', slot }],
  ['a run waits for a reset', { wakesAt: now + 9 }, { do: 'wait', until: now + 9 }],
  ['a reset is due, and the engine has not been seen to move', { wakesAt: now - 9 }, { do: 'wait', until: undefined }],
];

describe('what the service does next', () => {
  it.each(TABLE)('%s', (_title, view, decision) => {
    expect(decideService({ ...idle, ...view })).toEqual(decision);
  });
});
