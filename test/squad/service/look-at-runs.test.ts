import { expect, it } from 'vitest';
import { openMachine } from '../../../src/engine/machine.ts';
import { FOLLOW_KIND } from '../../../src/model/forge/follow-record.ts';
import { PEOPLE_KINDS } from '../../../src/model/people/kinds.ts';
import { KINDS } from '../../../src/model/sprint/kinds.ts';
import { createRedactor } from '../../../src/model/redaction/redactor.ts';
import { bindWorkspace, openWorkspace, withLedger } from '../../../src/squad/open-workspace.ts';
import type { Json } from '../../../src/text/json.ts';
import { lookAtRuns } from '../../../src/squad/service/look-at-runs.ts';
import { roomForTest } from '../../cli/room.ts';
import { testHost } from '../../support/test-host.ts';

it('the mark of a team changes with what it decides by, and not with what is said to people', async () => {
  const { root, repository } = roomForTest();
  const host = testHost(root, { workingDirectory: repository });
  const machine = openMachine(host);
  const workspace = bindWorkspace(await openWorkspace({ host, composition: machine }));
  const { directory } = workspace;
  const place = { directory, composition: { clock: machine.clock, redactor: () => createRedactor([]) } };
  const write = async (kind: string, id: string, value: Json = {}): Promise<void> =>
    withLedger(place, 'write', (ledger) => void ledger.writeRecord({ kind, id, value }));
  const followed = { still: new Map(), seq: undefined, counts: 0, isTeam: false };
  const mark = (): string | undefined => lookAtRuns(workspace, [], followed).teamMark;

  expect(mark()).toBeUndefined();
  await write(FOLLOW_KIND, 'run', { state: 'merged' });
  expect(mark()).toBeUndefined();
  await write(FOLLOW_KIND, 'run', { state: 'follows' });
  const following = mark();
  expect(following).toBeDefined();
  await write(FOLLOW_KIND, 'run', { state: 'held' });
  expect(mark()).toBe(following);
  await write(PEOPLE_KINDS.message, 'chat:1');
  const before = mark();
  expect(before).toBeDefined();
  for (const kind of [PEOPLE_KINDS.reply, PEOPLE_KINDS.delivery, PEOPLE_KINDS.cursor]) {
    await write(kind, 'one');
    expect(mark(), kind).toBe(before);
  }
  await write(KINDS.request, 'r-1');
  const after = mark();
  expect(after).not.toBe(before);
  expect(mark()).toBe(after);
});
