import { PEOPLE_KINDS } from '../../model/people/kinds.ts';
import { messageSchema, outcomeSchema, TERMINAL, type Message } from '../../model/people/message.ts';
import type { ChannelSettings } from '../../model/people/settings.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { plainJson } from '../../text/json.ts';
import {
  noticesOf,
  signed,
  SPRINT_END,
  sprintNoticeId,
  type Notice,
  type NoticePlace,
  type NoticeView,
} from '../../view/people/notices.ts';
import { relaySummaries, relayWindowEnd } from '../../view/people/relay.ts';
import { viewRequests } from '../../view/sprint/request-view.ts';
import { lookIn, withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { readChannels } from '../preflight/read-channels.ts';
import { findService } from '../service/service-lock.ts';
import { gatherRun } from '../team/gather-run.ts';
import { runStateIn, teamIn } from '../team/read-team.ts';
import { unagreedChannels } from './agreed-channels.ts';
import { askingRuns } from './asking-runs.ts';

/**
 * Writes what people of channels have to hear of requests, sprints, and runs that ask, each once: the id of a reply says what it tells.
 * Does nothing without a service, which is what posts.
 */
export async function writeNotices(workspace: OpenedWorkspace): Promise<Written> {
  const service = findService(workspace.directory);
  if (service === null) return NOTHING;
  const read = await readChannels(workspace.repository.root);
  const held = new Set(await unagreedChannels(workspace, read));
  const agreed = Object.entries(read.channels).filter(([name]) => !held.has(name));
  if (agreed.length === 0) return NOTHING;
  const { composition } = workspace;
  const now = composition.clock.now();
  const { since: started = now } = service.holder ?? {};
  const questions = askingRuns(workspace).flatMap(({ name, asks }) => asks.map((one) => ({ run: name, ...one })));
  const seen = lookIn(workspace, (ledger) => {
    const known = new Set(ledger.records(PEOPLE_KINDS.reply).map(({ id }) => id));
    const places = agreed.flatMap(([name, channel]) => placeOf(name, channel, known, started));
    const starts = service.holder === undefined ? [] : places.map((place) => startOf(place, started));
    const view = viewIn(ledger, new Set(agreed.map(([name]) => name)));
    const { relay, until } = relayIn(ledger, view.team, { places, known, now });
    const due = noticesOf({ ...view, relay, questions, places });
    return { notices: [...starts, ...due].filter(({ id }) => !known.has(id)), until };
  });
  const { notices = [], until } = seen ?? {};
  if (notices.length === 0) return { count: 0, until };
  const redactor = composition.redactor([]);
  await withLedger(workspace, 'write', (ledger) =>
    ledger.transact(() => {
      for (const { id, text, ...to } of notices) {
        if (ledger.record(PEOPLE_KINDS.reply, id) !== undefined) continue;
        const value = plainJson({ ...to, text: redactor.text(text), at: now });
        ledger.writeRecord({ kind: PEOPLE_KINDS.reply, id, value, after: 0 });
      }
    }),
  );
  return { count: notices.length, until };
}

/** `count`: how many are new. `until`: when to look again (epoch ms); undefined: once something changes. */
interface Written {
  readonly count: number;
  readonly until?: number | undefined;
}

const NOTHING: Written = { count: 0 };

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

/** The traffic of sprints whose end some channel has not heard. While one works, a window of it ends without any other news. */
function relayIn(
  ledger: Ledger,
  team: NoticeView['team'],
  about: { readonly places: readonly NoticePlace[]; readonly known: ReadonlySet<string>; readonly now: number },
): Pick<NoticeView, 'relay'> & Pick<Written, 'until'> {
  const { places, known, now } = about;
  const isHeard = (id: string): boolean =>
    places.every(({ channel, since }) => {
      const end = team.end.get(id);
      return end !== undefined && (end.at < since || known.has(sprintNoticeId(channel, id, SPRINT_END)));
    });
  const open = [...team.sprint].filter(([id]) => !isHeard(id));
  const relay = open.map(([id, { run }]) => {
    const traffic = gatherRun(ledger, run, team.progress.get(id)?.todos ?? []);
    return [id, relaySummaries(traffic, { now, isOver: team.end.has(id) })] as const;
  });
  const works = open.some(([id]) => !team.end.has(id));
  return { relay: new Map(relay), until: works ? relayWindowEnd(now) : undefined };
}

function messageOf(ledger: Ledger, id: string): Message | undefined {
  const record = ledger.record(PEOPLE_KINDS.message, id);
  return record === undefined ? undefined : messageSchema.parse(record.value);
}
