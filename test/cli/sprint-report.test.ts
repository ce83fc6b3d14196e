import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderReportLines } from '../../src/cli/report/report-lines.ts';
import { widthOf } from '../../src/cli/render/cells.ts';
import { PLAIN } from '../../src/cli/render/style.ts';
import { KINDS } from '../../src/model/sprint/kinds.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import { plainJson } from '../../src/text/json.ts';
import { sprintReportDocument } from '../../src/view/report/team/sprint-report-document.ts';
import { sprintReport } from '../../src/view/report/team/sprint-report.ts';
import type { EngineRoom } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { stateOf } from '../support/state.ts';
import { recordsAfter, teamAfter } from '../support/team-records.ts';
import { commandRoom } from './room.ts';
import { ALL } from '../support/lane.ts';

/** Two sprints are over and a third one is active; the second one delivered a commit that is there. */
async function roomAfterSprints(): Promise<EngineRoom> {
  const room = commandRoom();
  // The first command makes the state folder.
  await room.run(['request', 'something']);
  const { repository } = room;
  const base = git(repository, 'rev-parse', 'HEAD');
  writeFileSync(join(repository, 'a.txt'), 'a\n');
  git(repository, 'add', '-A');
  git(repository, 'commit', '-q', '-m', 'Add a login form');
  const head = git(repository, 'rev-parse', 'HEAD');
  const records = recordsAfter({ sprints: 3, active: true });
  const ends = records.get(KINDS.end) ?? new Map<string, unknown>();
  const [, last = ''] = [...ends.keys()];
  ends.set(last, { ...(ends.get(last) as object), head });
  const sprints = records.get(KINDS.sprint) ?? new Map<string, unknown>();
  sprints.set(last, { ...(sprints.get(last) as object), base });
  const ledger = openLedger(stateOf(repository), { clock: createSystemClock() });
  for (const [kind, all] of records)
    for (const [id, value] of all) ledger.writeRecord({ kind, id, value: plainJson(value) });
  ledger.close();
  return room;
}

describe('squad sprint report', () => {
  it('fits a terminal, whatever agents say', () => {
    const team = teamAfter({ sprints: 1, hostile: `\u001b[31m${'long '.repeat(60)}` });
    const report = sprintReport(team, '260324-Sprint-09:00', undefined, 'Asia/Seoul');
    if (report === undefined) throw new Error('there is no such sprint');
    const lines = renderReportLines(sprintReportDocument(report), 60, PLAIN);
    expect(lines.filter((line) => widthOf(line) > 60)).toEqual([]);
    expect(lines.join('\n')).not.toContain('\u001b');
    expect(lines).toContain('- State: completed');
    expect(lines).toContain('- Cost: not checked');
  });

  it('shows the last sprint that ended, with what git says of its commits', ALL, async () => {
    const room = await roomAfterSprints();
    const { code, stdout, stderr } = await room.run(['sprint', 'report']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^# Sprint `260324-Sprint-16:12`: Sprint 1\n/);
    expect(stdout).toContain('Add a login form');
    expect(stdout).toContain('a.txt');
    expect(stdout).toContain('By the records: 2 of 3 todos delivered, 1 blocked; the line of work has the work.');
    const [json] = (await room.run(['sprint', 'report', '--json'])).lines;
    expect(json).toMatchObject({ type: 'sprint-report', sprint_id: '260324-Sprint-16:12', state: 'completed' });
  });

  it('shows another one by its id, and that it is not over, and what was not checked', async () => {
    const room = await roomAfterSprints();
    const active = (await room.run(['sprint', 'report', '260324-Sprint-23:24'])).stdout;
    expect(active).toContain('now: it is not over');
    const [old] = (await room.run(['sprint', 'report', '260324-Sprint-09:00', '--json'])).lines;
    // Its commits are not in this repository.
    expect(old).toMatchObject({ sprint_id: '260324-Sprint-09:00', not_checked: ['subjects and paths of commits'] });
  });

  it('names the nearest sprint for an id that is unknown, and says where none has ended', async () => {
    const room = await roomAfterSprints();
    const { code, stderr } = await room.run(['sprint', 'report', '260324-Sprint-16:21']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('there is no sprint 260324-Sprint-16:21; did you mean 260324-Sprint-16:12?'),
    ]);
    const none = await commandRoom().run(['sprint', 'report']);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('no sprint has ended here')]);
  });
});
