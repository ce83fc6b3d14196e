import { expect } from 'vitest';
import { fc } from '@fast-check/vitest';
import { plainJson, type Json } from '../../src/text/json.ts';
import type { CheckedDraft } from '../../src/model/mail/check-draft.ts';
import { messageSchema } from '../../src/model/mail/envelope.ts';
import { humanLine } from '../../src/model/mail/human-line.ts';
import { nackSchema } from '../../src/model/mail/bodies.ts';
import { GOOD, wire, type Draft } from '../model/mail/drafts.ts';
import { checkIn, contextOf, idOf, POLICY } from '../model/mail/support.ts';
import { mutated } from './mutate-json.ts';
import { reader, type Reader } from './reader.ts';

const samples: readonly Draft[] = Object.values(GOOD);
const addresses = POLICY.members.map(({ address }) => address);

/** A good draft of which the envelope, the body, or the text of the body is another. Mostly by somebody who may send it. */
const nearlyGood: fc.Arbitrary<readonly [string, unknown]> = fc.constantFrom(...samples).chain((sample) =>
  fc.tuple(
    fc.oneof({ weight: 9, arbitrary: fc.constant(sample.by) }, { weight: 1, arbitrary: fc.constantFrom(...addresses) }),
    fc.oneof(
      { weight: 3, arbitrary: mutated(wire(sample)) },
      {
        weight: 5,
        arbitrary: mutated(plainJson(sample.body)).map((body) => ({ ...sample.said, body: JSON.stringify(body) })),
      },
      {
        weight: 1,
        arbitrary: fc.tuple(fc.nat(), fc.string({ unit: 'binary' })).map(([at, text]) => cut(sample, at, text)),
      },
    ),
  ),
);

function cut(sample: Draft, at: number, more: string): Record<string, Json> {
  const text = JSON.stringify(sample.body);
  const place = at % text.length;
  return { ...sample.said, body: text.slice(0, place) + more + text.slice(place + more.length) };
}

const anything = fc.anything({ withNullPrototype: true, withObjectString: true, withBigInt: true });

/** A field by its path, of names that the protocol has. */
const FIELD = /^(?:[A-Za-z][A-Za-z0-9_]*(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])*)*)?$/;

/** Refused in the one form, or a message like any other; by whoever sent it. */
export function holdsDraft(by: string, draft: unknown): void {
  const context = contextOf(by);
  const checked = checkIn(context, draft);
  if (!checked.ok) {
    const { field, rule } = nackSchema.parse(checked.refusal);
    expect(field).toMatch(FIELD);
    expect(rule).not.toBe('');
    return;
  }
  const kept = keptOf(checked.draft);
  const { session, epoch, now } = context;
  const made = { v: '1', session, epoch, seq: 99, id: idOf(99), agent_instance: 'turn', from: by, ts: now };
  const message = messageSchema.parse(JSON.parse(JSON.stringify({ ...made, ...kept })));
  expect(message).toEqual({ ...made, ...kept });
  expect(humanLine(message, message.body, 'en')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
  // What is kept says the same when it is read again.
  expect(checkIn(context, kept)).toEqual(checked);
}

function keptOf(draft: CheckedDraft): Partial<CheckedDraft> {
  const kept: { -readonly [Name in keyof CheckedDraft]?: CheckedDraft[Name] } = { ...draft };
  delete kept.verb;
  delete kept.fields;
  return kept;
}

export const MESSAGE_READER: Reader = reader(
  'messages',
  fc.oneof(
    { weight: 9, arbitrary: nearlyGood },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...addresses), anything) },
  ),
  ([by, draft]) => holdsDraft(by, draft),
);
