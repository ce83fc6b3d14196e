import { describe, expect, it } from 'vitest';
import { redactDraft } from '../../../src/model/mail/redact-draft.ts';
import { createRedactor, REDACTED } from '../../../src/model/redaction/redactor.ts';

const SECRET = 'c4n4ry-"of\\mail"';
const redactor = createRedactor([SECRET]);
const redact = (draft: unknown) => redactDraft(draft, redactor);
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a draft', () => {
  it('loses secrets in the values of its body, which stays JSON', () => {
    const body = JSON.stringify({ text: `a ${SECRET} b`, list: [{ [SECRET]: SECRET }], n: 1 });
    expect(redact({ to: ['A'], body })).toEqual({
      to: ['A'],
      body: JSON.stringify({ text: `a ${REDACTED} b`, list: [{ [REDACTED]: REDACTED }], n: 1 }),
    });
  });

  it('loses a key in PEM that reaches from one value to the end, and no other value with it', () => {
    const key = '-----BEGIN PRIVATE KEY-----\nMIIEvQ';
    const { body } = redact({ body: JSON.stringify({ key, after: 'kept' }) }) as { body: string };
    expect(JSON.parse(body)).toEqual({ key: REDACTED, after: 'kept' });
  });

  it('loses them in base64, which stays strict', () => {
    const note = { body_encoding: 'base64', body: base64(`a ${SECRET} b`) };
    expect(redact(note)).toEqual({ body_encoding: 'base64', body: base64(`a ${REDACTED} b`) });
  });

  it('loses them in every other field, so that the check refuses those', () => {
    expect(redact({ to: [SECRET], task_id: SECRET, [SECRET]: 1, body: '{}' })).toEqual({
      to: [REDACTED],
      task_id: REDACTED,
      [REDACTED]: 1,
      body: '{}',
    });
    expect(redact({ body: { text: SECRET } })).toEqual({ body: { text: REDACTED } });
  });

  it.each([
    { to: ['A'], body: '{ "text" : "plain",  "n":1e2 }' },
    { body: '{"no json' },
    { body_encoding: 'base64', body: base64('plain') },
    { body_encoding: 'base64', body: Buffer.from([0, 255, 128, 10]).toString('base64') },
    { body_encoding: 'base64', body: 'not base64' },
    { to: ['A'] },
    'no draft',
    null,
  ])('without a secret stays as it is, to the byte: %j', (draft) => {
    expect(redact(draft)).toEqual(draft);
  });
});
