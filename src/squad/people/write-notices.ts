import { PEOPLE_KINDS } from '../../model/people/kinds.ts';
import { messageSchema, outcomeSchema, TERMINAL, type Message } from '../../model/people/message.ts';
import type { ChannelSettings } from '../../model/people/settings.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { plainJson } from '../../text/json.ts';
import { noticesOf, signed, type Notice, type NoticePlace, type NoticeView } from '../../view/people/notices.ts';
import { viewRequests } from '../../view/sprint/request-view.ts';
import { lookIn, withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { readChannels } from '../preflight/read-channels.ts';
import { findService } from '../service/service-lock.ts';
import { runStateIn, teamIn } from '../team/read-team.ts';
import { unagreedChannels } from './agreed-channels.ts';
import { askingRuns } from './asking-runs.ts';

/**
 * Writes what people of channels have to hear of requests, sprints, and runs that ask, each once: the id of a reply says what it tells.
 * Does nothing without a service, which is what posts. Returns how many are new.
 */
export async function writeNotices(workspace: OpenedWorkspace): Promise<number> {
  const service = findService(workspace.directory);
  if (service === null) return 0;
  const read = await readChannels(workspace.repository.root);
  const held = new Set(await unagreedChannels(workspace, read));
  const agreed = Object.entries(read.channels).filter(([name]) => !held.has(name));
  if (agreed.length === 0) return 0;
  const { composition } = workspace;
  const now = composition.clock.now();
  const { since: started = now } = service.holder ?? {};
  const questions = askingRuns(workspace).flatMap(({ name, asks }) => asks.map((one) => ({ run: name, ...one })));
  const fresh = lookIn(workspace, (ledger) => {
    const known = new Set(ledger.records(PEOPLE_KINDS.reply).map(({ id }) => id));
    const places = agreed.flatMap(([name, channel]) => placeOf(name, channel, known, started));
    const starts = service.holder === undefined ? [] : places.map((place) => startOf(place, started));
    const due = noticesOf({ ...viewIn(ledger, new Set(agreed.map(([name]) => name))), questions, places });
    return [...starts, ...due].filter(({ id }) => !known.has(id));
  });
  if (fresh === undefined || fresh.length === 0) return 0;
  const redactor = composition.redactor([]);
  await withLedger(workspace, 'write', (ledger) =>
    ledger.transact(() => {
      for (const { id, text, ...to } of fresh) {
        if (ledger.record(PEOPLE_KINDS.reply, id) !== undefined) continue;
        const value = plainJson({ ...to, text: redactor.text(text), at: now });
        ledger.writeRecord({ kind: PEOPLE_KINDS.reply, id, value, after: 0 });
      }
    }),
  );
  return fresh.length;
}

const START = 'start/';

function startId(channel: string, at: number): string {
  return `${channel}/${START}${at}`;
}

function startOf({ channel, place }: NoticePlace, at: number): Notice {
  return { id: startId(channel, at), channel, place, text: signed(['squad serves this repository.'], 'orchestrator') };
}

/** Its report place, or else the first one that it reads. News begin with the first service that had it. */
function placeOf(name: string, channel: ChannelSettings, known: ReadonlySet<string>, now: number): NoticePlace[] {
  const place = channel.report ?? (channel.type === 'discord' ? channel.places[0] : name);
  if (place === undefined) return [];
  const prefix = startId(name, 0).slice(0, -1);
  const starts = [...known].filter((id) => id.startsWith(prefix)).map((id) => Number(id.slice(prefix.length)));
  return [{ channel: name, place, since: Math.min(now, ...starts) }];
}

function viewIn(
  ledger: Ledger,
  channels: ReadonlySet<string>,
): Pick<NoticeView, 'team' | 'requests' | 'asked' | 'runName'> {
  const team = teamIn(ledger);
  const asked = ledger.records(PEOPLE_KINDS.outcome).flatMap(({ id, value }) => {
    const { request } = outcomeSchema.parse(value);
    const message = request === undefined ? undefined : messageOf(ledger, id);
    if (request === undefined || message === undefined || message.channel === TERMINAL) return [];
    return channels.has(message.channel) ? [{ id, request, message }] : [];
  });
  return {
    team,
    requests: viewRequests(team, (run) => runStateIn(ledger, run) === 'over'),
    asked,
    runName: (id) => ledger.run(id)?.name ?? id,
  };
}

function messageOf(ledger: Ledger, id: string): Message | undefined {
  const record = ledger.record(PEOPLE_KINDS.message, id);
  return record === undefined ? undefined : messageSchema.parse(record.value);
}
