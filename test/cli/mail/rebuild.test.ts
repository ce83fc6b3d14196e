// @module-tag all
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fc } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { exportMail } from '../../../src/cli/mail/export.ts';
import { SPREAD, spread } from '../../support/lane.ts';
import { mailSteps, playMail, type MailHistory } from '../../support/mail-history.ts';
import { temporaryFolder } from '../../substrate/ledger/support.ts';
import { person, POLICY } from '../../substrate/ledger/mail/support.ts';

// A router of the specification that finds an export, and rebuilds its inboxes by §16.3.

const ADDRESSES = ['MAIN', 'A', 'B'] as const;
const ackSchema = z.object({
  id: z.string(),
  ack: z.enum(['delivered', 'accepted']),
  agent: z.string(),
  ts: z.number(),
});
const inboxSchema = z.object({ event: z.enum(['deliver', 'accepted']), id: z.string(), ts: z.number() });
const messageSchema = z.object({ id: z.string(), ts: z.number(), to: z.array(z.string()) });
const deliverySchema = z.record(
  z.string(),
  z.record(z.string(), z.object({ status: z.string(), retry_count: z.number() })),
);

interface Export {
  readonly messages: readonly z.infer<typeof messageSchema>[];
  readonly acks: readonly z.infer<typeof ackSchema>[];
  readonly inboxes: ReadonlyMap<string, readonly z.infer<typeof inboxSchema>[]>;
  readonly delivery: z.infer<typeof deliverySchema>;
}

function exported({ room }: MailHistory): Export {
  const folder = join(temporaryFolder(), 'mail');
  const context = {
    host: { workingDirectory: '/', environment: {} },
    output: { json: () => undefined, line: () => undefined },
  };
  exportMail(context, { mail: room.mail, run: { id: 'r' }, root: '/repository', policy: POLICY }, folder, {});
  const linesOf = <T>(name: string, schema: z.ZodType<T>): T[] => {
    const text = existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '';
    return text.split('\n').flatMap((line) => (line === '' ? [] : [schema.parse(JSON.parse(line))]));
  };
  const logs = existsSync(join(folder, 'logs')) ? readdirSync(join(folder, 'logs')) : [];
  const logged = <T>(kind: string, schema: z.ZodType<T>): T[] =>
    logs.filter((name) => name.startsWith(kind)).flatMap((name) => linesOf(`logs/${name}`, schema));
  return {
    messages: logged('messages', messageSchema),
    acks: logged('acks', ackSchema),
    inboxes: new Map(ADDRESSES.map((address) => [address, linesOf(`inbox/${address}.jsonl`, inboxSchema)])),
    delivery: deliverySchema.parse(JSON.parse(readFileSync(join(folder, 'state/delivery.json'), 'utf8'))),
  };
}

/** Delivered and not accepted, from the events of its inbox. */
function fromInbox(events: readonly z.infer<typeof inboxSchema>[]): string[] {
  const accepted = new Set(events.flatMap(({ event, id }) => (event === 'accepted' ? [id] : [])));
  return events.flatMap(({ event, id }) => (event === 'deliver' && !accepted.has(id) ? [id] : [])).toSorted();
}

/** The same where the inboxes are gone: from messages and acks. A message without an ack would be delivered again. */
function fromLogs({ messages, acks }: Export, address: string): string[] {
  const has = (id: string, ack: string): boolean =>
    acks.some((one) => one.id === id && one.agent === address && one.ack === ack);
  return messages.flatMap(({ id, to }) => (to.includes(address) && !has(id, 'accepted') ? [id] : [])).toSorted();
}

function judge(history: MailHistory): void {
  const { mail } = history.room;
  const found = exported(history);
  for (const address of ADDRESSES) {
    const inbox = mail.inbox(person(address));
    const own = inbox.map(({ message }) => message.id).toSorted();
    expect(fromInbox(found.inboxes.get(address) ?? [])).toEqual(own);
    expect(fromLogs(found, address)).toEqual(own);
    const alive = inbox.filter(({ state }) => state !== 'dead').map(({ message }) => message.id);
    expect(own.filter((id) => found.delivery[id]?.[address]?.status === 'delivered')).toEqual(alive.toSorted());
  }
  const sent = new Map(found.messages.map(({ id, ts }) => [id, ts]));
  for (const { id, ts } of found.acks) expect(ts).toBeGreaterThanOrEqual(sent.get(id) ?? Infinity);
  for (const events of found.inboxes.values()) {
    expect(events.map(({ ts }) => ts)).toEqual(events.map(({ ts }) => ts).toSorted((a, b) => a - b));
  }
  for (const [id, copies] of Object.entries(found.delivery)) {
    for (const [address, { status, retry_count: retries }] of Object.entries(copies)) {
      const copy = mail.deliveries(id).find(({ recipient }) => recipient === address);
      expect(retries).toBe(copy?.retries);
      expect(status).toBe(statusOf(history, id, copy?.state));
    }
  }
  const all = [...mail.trace({})].flatMap((entry) => (entry.event === 'message' ? [entry.message.id] : []));
  expect(Object.keys(found.delivery).toSorted()).toEqual(all.toSorted());
}

function statusOf({ room }: MailHistory, id: string, state: string | undefined): string {
  if (state === 'dead') return 'failed';
  if (state === 'accepted' || state === 'void') return state;
  const attempt = [...room.mail.trace({})].find((entry) => entry.event === 'message' && entry.message.id === id);
  return attempt?.event === 'message' && attempt.held !== null ? 'deferred' : 'delivered';
}

describe('an export, as the router of the specification reads it', () => {
  it('has the same inboxes as squad, in the middle of a run and at its end', SPREAD, () => {
    const property = fc.property(mailSteps(30), fc.boolean(), (steps, completed) => {
      const history = playMail(steps);
      judge(history);
      history.endTurns(completed);
      judge(history);
      const waits = [...history.room.mail.trace({})].filter(
        (entry) => entry.event === 'message' && entry.held !== null,
      );
      expect(waits).toEqual([]);
    });
    fc.assert(property, { numRuns: spread(12, 400, 30) });
  });
});
