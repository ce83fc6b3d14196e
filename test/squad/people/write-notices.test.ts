import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PEOPLE_KINDS } from '../../../src/model/people/kinds.ts';
import { replySchema } from '../../../src/model/people/reply.ts';
import { KINDS } from '../../../src/model/sprint/kinds.ts';
import { bindWorkspace, openWorkspace, withLedger } from '../../../src/squad/open-workspace.ts';
import { writeNotices } from '../../../src/squad/people/write-notices.ts';
import { channelItems } from '../../../src/squad/preflight/channel-items.ts';
import { agree } from '../../../src/squad/preflight/consent.ts';
import { readChannels } from '../../../src/squad/preflight/read-channels.ts';
import { lockService } from '../../../src/squad/service/service-lock.ts';
import { holderHere } from '../../../src/substrate/ledger/index.ts';
import { plainJson } from '../../../src/text/json.ts';
import { roomForTest } from '../../cli/room.ts';
import { testHost } from '../../support/test-host.ts';

const WEB = { type: 'webhook', url: 'https://a.example/', secret: 'HOOK', report: 'hall' };
const SECRET = 'hunter2hunter2';

it('people hear each thing once, by an agreed channel, while a service runs', async () => {
  const { repository, root } = roomForTest();
  writeFileSync(join(repository, 'squad.yaml'), JSON.stringify({ version: 1, channels: { web: WEB } }));
  const own = testHost(root, { workingDirectory: repository });
  const host = { ...own, environment: { ...own.environment, MY_TOKEN: SECRET } };
  const workspace = bindWorkspace(await openWorkspace({ host }));
  const write = async (kind: string, id: string, value: object): Promise<void> =>
    withLedger(workspace, 'write', (ledger) => void ledger.writeRecord({ kind, id, value: plainJson(value) }));
  const replies = async (): Promise<readonly (readonly [id: string, place: string, text: string])[]> =>
    withLedger(workspace, 'write', (ledger) =>
      ledger.records(PEOPLE_KINDS.reply).map(({ id, value }) => {
        const { place, text } = replySchema.parse(value);
        return [id, place, text] as const;
      }),
    );
  const message = { channel: 'web', sender: 'ann', name: 'Ann', place: 'room', text: 'a form', attachments: [], at: 1 };
  await write(PEOPLE_KINDS.message, 'web:1', message);
  await write(PEOPLE_KINDS.outcome, 'web:1', { state: 'done', request: 'r-1', at: 2 });
  const request = { text: 'a form', by: 'Ann', at: 1, fingerprint: 'form', attachments: [], joined: [] };
  await write(KINDS.request, 'r-1', request);
  await write(KINDS.requestPlan, 'r-1', { outcome: 'refused', items: [], answer: `no, ${SECRET}`, at: 3 });

  expect(await writeNotices(workspace), 'no service').toMatchObject({ count: 0 });
  const serve = (since: number) => lockService(workspace.directory, holderHere(host.pid, since));
  const first = serve(1_000);
  expect(await writeNotices(workspace), 'no consent').toMatchObject({ count: 0 });
  const { channels, source } = await readChannels(repository);
  const ports = { clock: workspace.composition.clock, host, confirm: async () => true };
  const { web } = channels;
  if (web === undefined) throw new Error('no channel');
  await agree(channelItems('web', web, source), ports, { repository: workspace.repository, yes: false });

  expect(await Promise.all([writeNotices(workspace), writeNotices(workspace)])).toContainEqual({ count: 2 });
  expect(await writeNotices(workspace)).toMatchObject({ count: 0 });
  expect(await replies()).toEqual([
    ['web/start/1000', 'hall', 'squad serves this repository.\n— orchestrator'],
    ['web:1/refused', 'room', expect.stringMatching(/^r-1 is refused: no, \[/)],
  ]);
  expect(JSON.stringify(await replies())).not.toContain(SECRET);

  first.release();
  const second = serve(2_000);
  expect(await writeNotices(workspace)).toMatchObject({ count: 1 });
  expect((await replies()).at(-1)?.[0]).toBe('web/start/2000');
  second.release();
});
