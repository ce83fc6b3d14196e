import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KINDS } from '../../src/model/sprint/kinds.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import { plainJson } from '../../src/text/json.ts';
import type { EngineRoom } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { stateOf } from '../support/state.ts';
import { commandRoom } from './room.ts';
import { ALL } from '../support/lane.ts';

const KICKOFF = { milestone: 'm', text: 'm', items: [], attachments: [], by: 'kim', trigger: 'person' };

/** Sprints by their ids: whether each has brought work. The first begins where the checkout is. */
async function roomAfter(sprints: Readonly<Record<string, boolean>>): Promise<EngineRoom> {
  const room = commandRoom();
  // The first command makes the state folder.
  await room.run(['request', 'something']);
  const { repository } = room;
  const ledger = openLedger(stateOf(repository), { clock: createSystemClock() });
  git(repository, 'branch', 'sprints');
  for (const [index, [id, works]] of Object.entries(sprints).entries()) {
    const base = git(repository, 'rev-parse', 'sprints');
    const value = { kickoff: KICKOFF, run: `run-${index}`, base, at: index, until: null };
    ledger.writeRecord({ kind: KINDS.sprint, id, value: plainJson(value) });
    const head = works ? commitOn(repository, `${id}.txt`) : null;
    const end = { outcome: works ? 'completed' : 'failed', head, line: 'sprints', at: index };
    ledger.writeRecord({ kind: KINDS.end, id, value: plainJson(end) });
  }
  ledger.close();
  return room;
}

/** A commit on the line, which nothing has checked out. */
function commitOn(repository: string, path: string): string {
  git(repository, 'switch', '-q', 'sprints');
  writeFileSync(join(repository, path), `${path}\n`);
  git(repository, 'add', '-A');
  git(repository, 'commit', '-qm', `Add ${path}`);
  git(repository, 'switch', '-q', '-');
  return git(repository, 'rev-parse', 'sprints');
}

describe('squad merge of the line', () => {
  it('takes it also after a sprint that delivered nothing, and says whose work it brings', ALL, async () => {
    const { run, repository } = await roomAfter({ '260324-Sprint-09:00': true, '260325-Sprint-09:00': false });
    const [status] = (await run(['sprint', 'status', '--json'])).lines;
    expect(status).toMatchObject({ line: { branch: 'sprints', ahead: 1 } });
    expect((await run(['sprint', 'status'])).stdout).toContain('`squad merge sprints` takes it');
    const merged = await run(['merge', 'sprints']);
    expect([merged.code, merged.stderr]).toEqual([0, '']);
    expect(merged.stdout).toContain('1 commit of 260324-Sprint-09:00');
    expect(git(repository, 'rev-parse', 'HEAD')).toBe(git(repository, 'rev-parse', 'sprints'));
    const again = await run(['merge', 'sprints']);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('nothing was left to merge')]);
    expect((await run(['sprint', 'status'])).stdout).not.toContain('squad merge');
  });

  it('says that there is nothing to merge where no sprint has delivered', async () => {
    const { run } = await roomAfter({ '260324-Sprint-09:00': false });
    const { code, stdout, stderr } = await run(['merge', 'sprints']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('nothing was left to merge');
  });

  it('names the command that starts one where no sprint has started, with and without a ledger', async () => {
    for (const first of [[], ['request', 'something']]) {
      const { run } = commandRoom();
      if (first.length > 0) await run(first);
      const { code, stderr } = await run(['merge', 'sprints']);
      expect(code).toBe(2);
      expect(stderr).toContain('no sprint has started here, so sprints has nothing to merge');
      expect(stderr).toContain('Next: Start one: `squad sprint start "…"`.');
    }
  });

  it('refuses a line that someone moved, and takes it where that is asked for', async () => {
    const { run, repository } = await roomAfter({ '260324-Sprint-09:00': true });
    commitOn(repository, 'mine.txt');
    const refused = await run(['merge', 'sprints']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('not where the last sprint left it')]);
    expect((await run(['merge', 'sprints', '--unverified'])).code).toBe(0);
  });
});
