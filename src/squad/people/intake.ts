import { PEOPLE_KINDS } from '../../model/people/kinds.ts';
import type { Message } from '../../model/people/message.ts';
import type { ChannelSettings } from '../../model/people/settings.ts';
import { errorText, isSquadError } from '../../model/errors.ts';
import { MOST_FILE_BYTES, type Attachment } from '../../model/sprint/request.ts';
import { refuse, takeMessage, type TakeDecision } from '../../rules/people/take-message.ts';
import type { IncomingFile, IncomingMessage, ListenPorts } from '../../substrate/ports/channel.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { plainJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { storeAttachments, tooLarge } from '../team/attachments.ts';
import { keyIn, type FollowPeople } from './follow-people.ts';
import type { PeoplePorts } from './people-ports.ts';

/** A place in which only others talk is written down no more often than this. */
const PASSED_MS = 60_000;
/** People see the beginning of a text that is refused. */
const MOST_KEPT = 500;
const MOST_STRANGERS = 1_000;

interface Intake extends PeoplePorts {
  readonly name: string;
  readonly settings: Pick<ChannelSettings, 'senders' | 'messagesPerHour'>;
  readonly follow: FollowPeople;
}

/** Takes the messages of one channel: each once, in one transaction with how far its place is taken. */
export function createIntake(ports: Intake): Pick<ListenPorts, 'after' | 'take' | 'passed'> {
  const { name, clock, read, write, follow, say } = ports;
  const passedBy = new Map<string, { id: string; writtenAt: number | undefined }>();
  const strangers = new Set<string>();
  const passed = async (place: string, id: string): Promise<void> => {
    const { writtenAt } = passedBy.get(place) ?? {};
    const isDue = writtenAt === undefined || clock.monotonic() - writtenAt >= PASSED_MS;
    passedBy.set(place, { id, writtenAt: isDue ? clock.monotonic() : writtenAt });
    if (isDue) await write((ledger) => moveCursor(ledger, name, place, id));
  };
  return {
    after: () => {
      const { cursors } = read(follow) ?? { cursors: new Map<string, string>() };
      const own = [...cursors].filter(([key]) => key.startsWith(keyIn(name, '')));
      const stored = own.map(([key, after]) => [key.slice(name.length + 1), after] as const);
      return new Map([...stored, ...[...passedBy].map(([place, { id }]) => [place, id] as const)]);
    },
    passed,
    take: async (message) => {
      const decision = decide(ports, message);
      if (decision.do === 'leave') {
        if (decision.why === 'known') return;
        if (decision.why === 'stranger' && strangers.size < MOST_STRANGERS && !strangers.has(message.sender)) {
          strangers.add(message.sender);
          say(`${name}: ${plainLine(message.sender, 60)} is no sender of it, and is not heard`);
        }
        return passed(message.place, message.id);
      }
      const files = decision.do === 'take' ? await filesOf(ports, message.attachments) : [];
      const refused = 'says' in files ? files.says : decision.do === 'refuse' ? decision.says : undefined;
      await record(ports, message, 'says' in files ? [] : files, refused);
      passedBy.delete(message.place);
    },
  };
}

function decide({ name, settings, read, follow }: Intake, message: IncomingMessage): TakeDecision {
  const { senders, messagesPerHour } = settings;
  const key = keyIn(name, message.sender);
  const seen = read((ledger) => {
    const { taken, noticed } = follow(ledger);
    const isKnown = ledger.record(PEOPLE_KINDS.message, keyIn(name, message.id)) !== undefined;
    return { isKnown, taken: taken.get(key) ?? [], noticedAt: noticed.get(key) };
  });
  const isSender = Object.hasOwn(senders, message.sender);
  return takeMessage({ ...(seen ?? { isKnown: false, taken: [] }), message, isSender, messagesPerHour });
}

/** Their bytes are kept before the message is on record: one that is killed in between is handed in again. */
async function filesOf(
  { directory, redactor }: Intake,
  files: readonly IncomingFile[],
): Promise<Attachment[] | { readonly says: string }> {
  try {
    const large = files.find(({ bytes }) => bytes > MOST_FILE_BYTES);
    if (large !== undefined) throw tooLarge(large.name);
    const given: { name: string; bytes: Uint8Array }[] = [];
    // One after the other: their bytes are in memory.
    for (const file of files) given.push({ name: redactor.text(file.name), bytes: await file.read() });
    return await storeAttachments(directory, given);
  } catch (error) {
    const why = isSquadError(error) ? error.message : `a file of it cannot be had: ${errorText(error)}`;
    return { says: refuse(plainLine(redactor.text(why), 300)).says };
  }
}

async function record(
  { name, write, redactor, clock }: Intake,
  message: IncomingMessage,
  attachments: readonly Attachment[],
  refused: string | undefined,
): Promise<void> {
  const { place, sender, text } = message;
  const value: Message = {
    ...{ channel: name, sender, place },
    name: plainLine(redactor.text(message.name), 80),
    text: redactor.text(refused === undefined ? text : text.slice(0, MOST_KEPT).toWellFormed()),
    attachments: [...attachments],
    at: Math.min(message.at, clock.now()),
    ...(refused === undefined ? {} : { refused }),
  };
  const id = keyIn(name, message.id);
  await write((ledger) =>
    ledger.transact(() => {
      const isNew = ledger.writeRecord({ kind: PEOPLE_KINDS.message, id, value: plainJson(value), after: 0 });
      if (isNew !== undefined) moveCursor(ledger, name, place, message.id);
    }),
  );
}

function moveCursor(
  ledger: Pick<Ledger, 'record' | 'writeRecord'>,
  channel: string,
  place: string,
  after: string,
): void {
  const about = { kind: PEOPLE_KINDS.cursor, id: keyIn(channel, place) };
  ledger.writeRecord({ ...about, value: { after } });
}
