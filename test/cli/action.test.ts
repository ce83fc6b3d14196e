import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PEOPLE_KINDS } from '../../src/model/people/kinds.ts';
import { bindWorkspace, openWorkspace, withLedger } from '../../src/squad/open-workspace.ts';
import { runAction } from '../../src/squad/people/run-action.ts';
import { findAction } from '../../src/squad/preflight/read-actions.ts';
import { actionEnd } from '../../src/view/people/action-text.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import type { EngineRoom } from '../support/engine.ts';
import { testHost } from '../support/test-host.ts';
import { stateOf } from '../support/state.ts';
import { commandRoom } from './room.ts';

const ACTIONS = `version: 1
actions:
  say: { run: 'printf "%s|" "$0" "$@"; echo', args: 2, says: "Says what it gets" }
  fail: { run: "echo broken >&2; exit 3" }
  long: { run: "sleep 30", wall: 1 }
  log: { run: "echo once >> log.txt" }
`;

function actionRoom(): EngineRoom {
  const room = commandRoom();
  writeFileSync(join(room.repository, 'squad.yaml'), ACTIONS);
  return room;
}

function recorded(room: EngineRoom): unknown[] {
  const ledger = openLedger(stateOf(room.repository), { clock: createSystemClock() });
  try {
    return ledger.records(PEOPLE_KINDS.action).map(({ value }) => value);
  } finally {
    ledger.close();
  }
}

describe('squad action', () => {
  it('lists what squad.yaml has', async () => {
    const { stdout } = await actionRoom().run(['action', 'list']);
    expect(stdout).toMatch(/say +2 .*Says what it gets/);
  });

  it('gives arguments to its command as they are, and keeps what it printed', async () => {
    const room = actionRoom();
    const { code, stdout } = await room.run(['action', 'run', 'say', '$(touch a)', '; touch b', '--yes']);
    expect([code, stdout]).toEqual([0, 'say|$(touch a)|; touch b|\nThe action say is done.\n']);
    expect(['a', 'b'].map((name) => existsSync(join(room.repository, name)))).toEqual([false, false]);
    expect(recorded(room)).toMatchObject([
      { name: 'say', args: ['$(touch a)', '; touch b'], end: { code: 0, output: 'say|$(touch a)|; touch b|' } },
    ]);
  });

  it.each([
    ['fail', 'broken\nThe action fail failed: it exits with 3.\n'],
    ['long', 'The action long failed: '],
  ])('exits with 1 where %s fails', async (name, said) => {
    const { code, stdout } = await actionRoom().run(['action', 'run', name, '--yes']);
    expect(code).toBe(1);
    expect(stdout).toContain(said);
  });

  it.each([
    [['say'], 78, /squad action run|--yes/],
    [['sya'], 2, /did you mean say/],
    [['fail', 'now', '--yes'], 2, /takes no arguments, and 1 were given/],
  ])('refuses %j and runs nothing', async (args, exit, said) => {
    const room = actionRoom();
    const { code, stderr } = await room.run(['action', 'run', ...args]);
    expect([code, said.test(stderr)], stderr).toEqual([exit, true]);
    expect(recorded(room)).toEqual([]);
  });

  it('runs for a message only once a person has agreed, and then once', async () => {
    const room = actionRoom();
    const before = await room.run(['ask', 'execute log']);
    expect([before.code, before.stdout]).toEqual([
      1,
      expect.stringContaining('no person has agreed to the action log'),
    ]);
    expect((await room.run(['serve', 'check', '--yes'])).code).toBe(0);
    const { code, stdout } = await room.run(['ask', 'execute log']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('The action log is done.')]);
    expect(recorded(room)).toHaveLength(1);
  });

  it('runs no second time under the key of a run whose end is not known', async () => {
    const room = actionRoom();
    const host = testHost(room.root, { workingDirectory: room.repository });
    const workspace = bindWorkspace(await openWorkspace({ host }));
    const begun = { name: 'log', args: [], by: 'Ada', at: 1 };
    await withLedger(workspace, 'write', (ledger) =>
      ledger.writeRecord({ kind: PEOPLE_KINDS.action, id: 'chat:1', value: begun }),
    );
    const order = { key: 'chat:1', name: 'log', args: [], by: 'Ada' };
    const { action } = await findAction(workspace.repository.root, order);
    expect(actionEnd(await runAction(workspace, order, action))).toContain('its end is not known');
    expect(existsSync(join(room.repository, 'log.txt'))).toBe(false);
  });
});
