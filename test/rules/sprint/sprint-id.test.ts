import { expect, it } from 'vitest';
import { sprintFolder, sprintFolders, sprintId } from '../../../src/rules/sprint/sprint-id.ts';
import { isTimeZone, zonedTime } from '../../../src/text/zoned-time.ts';

const at = (text: string): number => Date.parse(text);

it.each([
  ['2026-03-24T00:00:00Z', 'Asia/Seoul', '260324-Sprint-09:00', '2026-03-24T09:00:00+09:00'],
  ['2026-03-24T23:59:59.999Z', 'Asia/Seoul', '260325-Sprint-08:59', '2026-03-25T08:59:59+09:00'],
  ['2025-12-31T15:00:00Z', 'Asia/Seoul', '260101-Sprint-00:00', '2026-01-01T00:00:00+09:00'],
  // The clocks of Berlin are set forward: 02:00 to 02:59 do not exist.
  ['2026-03-29T00:59:00Z', 'Europe/Berlin', '260329-Sprint-01:59', '2026-03-29T01:59:00+01:00'],
  ['2026-03-29T01:00:00Z', 'Europe/Berlin', '260329-Sprint-03:00', '2026-03-29T03:00:00+02:00'],
  // And back: 02:00 to 02:59 come twice, and the times tell them apart.
  ['2026-10-25T00:30:00Z', 'Europe/Berlin', '261025-Sprint-02:30', '2026-10-25T02:30:00+02:00'],
  ['2026-10-25T01:30:00Z', 'Europe/Berlin', '261025-Sprint-02:30', '2026-10-25T02:30:00+01:00'],
  ['2026-10-25T02:00:00Z', 'Europe/Berlin', '261025-Sprint-03:00', '2026-10-25T03:00:00+01:00'],
  ['2026-07-01T06:00:00Z', 'Asia/Kolkata', '260701-Sprint-11:30', '2026-07-01T11:30:00+05:30'],
  ['2026-07-01T06:00:00Z', 'Asia/Kathmandu', '260701-Sprint-11:45', '2026-07-01T11:45:00+05:45'],
  ['2026-01-01T02:00:00Z', 'America/St_Johns', '251231-Sprint-22:30', '2025-12-31T22:30:00-03:30'],
  // Half an hour of daylight saving time.
  ['2026-04-04T15:15:00Z', 'Australia/Lord_Howe', '260405-Sprint-01:45', '2026-04-05T01:45:00+10:30'],
  ['2026-07-01T06:00:00Z', 'UTC', '260701-Sprint-06:00', '2026-07-01T06:00:00+00:00'],
])('%s in %s is %s', (instant, timezone, id, time) => {
  expect(sprintId(at(instant), timezone, [])).toBe(id);
  expect(zonedTime(at(instant), timezone)).toBe(time);
});

it.each(['Europe/Berlin', 'Asia/Seoul', 'Asia/Kolkata', 'Australia/Lord_Howe', 'America/St_Johns', 'UTC'])(
  'every hour around a change of clocks reads in %s as the instant that it is, and no two sprints have one id',
  (timezone) => {
    const taken = new Set<string>();
    const days = ['03-07', '03-28', '04-04', '10-03', '10-24', '10-31'];
    const hours = days.flatMap((day) =>
      Array.from({ length: 48 }, (_, hour) => at(`2026-${day}T00:30:00Z`) + hour * 3_600_000),
    );
    for (const now of hours) {
      expect(at(zonedTime(now, timezone))).toBe(now);
      const id = sprintId(now, timezone, taken);
      expect(taken.has(id)).toBe(false);
      taken.add(id);
    }
    const repeated = [...taken].filter((id) => /-\d$/.test(id));
    // Lord Howe sets its clocks back by half an hour, so that no full hour is there twice.
    expect(repeated).toStrictEqual(
      { 'Europe/Berlin': ['261025-Sprint-02:30-2'], 'America/St_Johns': ['261101-Sprint-01:00-2'] }[timezone] ?? [],
    );
    const folders = [...sprintFolders(taken).values()];
    expect(new Set(folders).size).toBe(taken.size);
    for (const folder of folders) expect(folder).toMatch(/^\d{6}-Sprint-\d\d-\d\d(?:-2)?$/);
  },
);

it('counts on in one minute', () => {
  const taken: string[] = [];
  for (let number = 1; number <= 3; number += 1) taken.push(sprintId(at('2026-03-24T00:00:10Z'), 'Asia/Seoul', taken));
  expect(taken).toStrictEqual(['260324-Sprint-09:00', '260324-Sprint-09:00-2', '260324-Sprint-09:00-3']);
});

it('gives two ids that would share a folder one each, and the earlier keeps its own', () => {
  expect(sprintFolder('260324-Sprint-09:00')).toBe('260324-Sprint-09-00');
  expect([...sprintFolders(['260324-Sprint-09:00', '260324-Sprint-09-00', '260324-sprint-09:00'])]).toStrictEqual([
    ['260324-Sprint-09:00', '260324-Sprint-09-00'],
    ['260324-Sprint-09-00', '260324-Sprint-09-00-2'],
    ['260324-sprint-09:00', '260324-sprint-09-00-3'],
  ]);
});

it.each(['../../etc', 'CON', '.git', 'a/b', 'x'.repeat(500), ''])('an id like %j leads out of no folder', (id) => {
  expect(sprintFolder(id)).toMatch(/^(?!\.)[\w.-]{1,121}$/);
});

it('knows the names of zones', () => {
  expect(['Asia/Seoul', 'UTC', 'Mars/Olympus', ''].map(isTimeZone)).toStrictEqual([true, true, false, false]);
});
