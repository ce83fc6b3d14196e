import { z } from 'zod';
import { ofType, type LedgerHistory } from './history.ts';

const sentSchema = z.object({ id: z.string(), seq: z.number() });

/** Messages have no gaps, ids that match their rows, rising times, and one event each. */
function mailGaps({ mail, ...history }: LedgerHistory): string[] {
  const [session = ''] = mail.sessions;
  const sent = new Map(
    ofType({ mail, ...history }, 'mail-sent').map((event) => [event.seq, sentSchema.safeParse(event.data).data]),
  );
  const events = new Map(history.events.map((event) => [event.seq, event.stream]));
  const rows = mail.messages.flatMap((row, index) => {
    const { seq, id, epoch, eventSeq, runId, ts } = row;
    const event = sent.get(eventSeq);
    const wrong =
      (seq !== index + 1 && `it is at place ${index + 1}`) ||
      (id !== `${session}-${epoch}-${seq}` && 'its id does not match') ||
      (ts < (mail.messages[index - 1]?.ts ?? 0) && 'it is older than the one before') ||
      ((event?.seq !== seq || event.id !== id || events.get(eventSeq) !== runId) &&
        `event ${eventSeq} does not record it`);
    return wrong === false ? [] : [`message ${seq}: ${wrong}`];
  });
  const known = new Set(mail.messages.map(({ eventSeq }) => eventSeq));
  const lost = [...sent.keys()].filter((seq) => !known.has(seq));
  return [...rows, ...lost.map((seq) => `the message of event ${seq} is gone`)];
}

/** Each message has one delivery for each of its recipients, recorded as delivered. */
function undelivered({ mail }: LedgerHistory): string[] {
  const deliveries = Map.groupBy(mail.deliveries, ({ mailSeq }) => String(mailSeq));
  const delivered = new Set(mail.lines.filter(({ what }) => what === 'delivered').map(keyOf));
  const known = new Set(mail.messages.map(({ seq }) => seq));
  const strays = mail.deliveries.filter(({ mailSeq }) => !known.has(mailSeq));
  const wrong = mail.messages.filter((row) => {
    const found = deliveries.get(String(row.seq)) ?? [];
    const to = z.array(z.string()).safeParse(JSON.parse(row.recipients)).data ?? [];
    const same = found.length === to.length && found.every(({ recipient }) => to.includes(recipient));
    return !same || !found.every((delivery) => delivered.has(keyOf(delivery)));
  });
  return [
    ...wrong.map(({ seq }) => `message ${seq} does not have exactly its recipients`),
    ...strays.map(({ mailSeq }) => `a delivery of message ${mailSeq}, which is gone`),
  ];
}

/** A delivery is accepted at most once, after it was delivered, and stays accepted. */
function wrongAcks({ mail }: LedgerHistory): string[] {
  const states = new Map(mail.deliveries.map((row) => [keyOf(row), row.state]));
  const seen = new Set<string>();
  const found: string[] = [];
  for (const line of mail.lines) {
    const key = keyOf(line);
    const say = (what: string): number => found.push(`message ${key}: ${what}`);
    if (seen.has(`${key} ${line.what}`) && line.what !== 'retry' && line.what !== 'overdue') say(`${line.what} twice`);
    if (line.what === 'accepted' && !seen.has(`${key} delivered`)) say('accepted before it was delivered');
    if (line.what === 'accepted' && states.get(key) !== 'accepted')
      say(`accepted, and now ${states.get(key) ?? 'gone'}`);
    seen.add(`${key} ${line.what}`);
  }
  for (const [key, state] of states) {
    const ended = state === 'accepted' || state === 'dead' || state === 'void';
    if (ended && !seen.has(`${key} ${state}`)) {
      found.push(`message ${key} is ${state}, and no event says since when`);
    }
  }
  return found;
}

/** A turn's deferred messages take effect only if it completes. */
function wronglyHeld({ mail, settlements }: LedgerHistory): string[] {
  const outcomes = new Map(settlements.map(({ attemptId, outcome }) => [attemptId, outcome]));
  const deliveries = Map.groupBy(mail.deliveries, ({ mailSeq }) => String(mailSeq));
  const accepted = new Set(mail.lines.filter(({ what }) => what === 'accepted').map(keyOf));
  return mail.messages.flatMap(({ seq, held }) => {
    const outcome = held === null ? 'completed' : outcomes.get(held);
    const wrong = (deliveries.get(String(seq)) ?? []).find((row) => {
      if (outcome === 'completed') return row.held === 1 || row.state === 'void';
      const waits = outcome === undefined ? row.state === 'waiting' : row.state === 'void';
      return row.held === 0 || !waits || accepted.has(keyOf(row));
    });
    if (wrong === undefined) return [];
    const turn = held === null ? 'no turn' : `turn ${held} (${outcome ?? 'running'})`;
    return [`message ${keyOf(wrong)} is ${wrong.state}, held by ${turn}`];
  });
}

/** A reader that accepts several messages of a sender at once accepts the oldest first. */
function ackOrder({ mail }: LedgerHistory): string[] {
  const senders = new Map(mail.messages.map(({ seq, sender }) => [seq, sender]));
  const last = new Map<string, number>();
  return mail.lines.flatMap(({ event, mailSeq, recipient, what }) => {
    if (what !== 'accepted') return [];
    const key = `${event} ${recipient} ${senders.get(mailSeq) ?? ''}`;
    const before = last.get(key) ?? 0;
    last.set(key, mailSeq);
    return mailSeq > before ? [] : [`${recipient} read ${mailSeq} after ${before}`];
  });
}

function keyOf({ mailSeq, recipient }: { readonly mailSeq: number; readonly recipient: string }): string {
  return `${mailSeq} to ${recipient}`;
}

export const MAIL_RULES = {
  'mail-seq-gap': mailGaps,
  'mail-undelivered': undelivered,
  'mail-ack-wrong': wrongAcks,
  'mail-held-wrong': wronglyHeld,
  'mail-ack-order': ackOrder,
};
