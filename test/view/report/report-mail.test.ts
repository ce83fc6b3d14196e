import { describe, expect, it } from 'vitest';
import type { MailMessage } from '../../../src/model/mail/envelope.ts';
import { sectionText } from '../../../src/view/report/markdown.ts';
import { mailSection } from '../../../src/view/report/report-people.ts';
import type { Delivery, MailStatus } from '../../../src/substrate/ports/mailbox.ts';

const MESSAGE: MailMessage = {
  v: '1',
  session: 'sess',
  epoch: 1,
  seq: 7,
  id: 'sess-1-7',
  agent_instance: 'a-1',
  from: 'A',
  to: ['MAIN'],
  type: 'ask',
  action: 'clarify',
  ttl_ms: 1,
  ts: 1,
  body_encoding: 'json',
  body: '{}',
};
const ASK: Delivery = {
  message: MESSAGE,
  recipient: 'MAIN',
  state: 'waiting',
  retries: 0,
  acceptedAt: null,
  answerDue: null,
  answer: null,
  lastError: null,
};

function status(more: Partial<MailStatus> = {}, counts: Partial<MailStatus['counts']> = {}): MailStatus {
  return {
    session: { id: 'sess', createdAt: 1, epoch: 1, lastSeq: 7 },
    members: [],
    tasks: [],
    unanswered: [],
    dead: [],
    counts: { messages: 7, unread: 0, dead: 0, refused: 0, ...counts },
    ...more,
  };
}

function shown(...of: Parameters<typeof mailSection>): string | undefined {
  const section = mailSection(...of);
  return section && sectionText(section);
}

describe('mail in a report', () => {
  it('is nothing where there was none', () => {
    expect(shown(undefined)).toBeUndefined();
    expect(shown(status({}, { messages: 0 }))).toBeUndefined();
  });

  it('says that all is well where it is', () => {
    expect(shown(status())).toBe(
      '## Mail\n\nMessages: 7. All were read, and no question is open. `squad mail trace` shows it all.',
    );
  });

  it('says what is left, each once, and why', () => {
    const dead: Delivery = { ...ASK, state: 'dead', lastError: 'not read | in time' };
    const other: Delivery = { ...ASK, message: { ...MESSAGE, id: 'sess-1-8', from: 'x\n# y' } };
    const members = [{ address: 'MAIN', role: 'main', agent: null, online: false, unread: 2, oldestUnread: 1 }];
    const text = shown(status({ members, dead: [dead], unanswered: [dead, other] }, { refused: 3 }));
    expect(text).toContain('3 more were refused.');
    expect(text).toContain(
      '2 messages unread (MAIN 2), 2 questions without an answer, 1 message that could not be delivered',
    );
    expect(text?.split('\n').slice(4)).toEqual([
      '| id | from | to | what | why |',
      '| --- | --- | --- | --- | --- |',
      '| `sess-1-7` | A | MAIN | ask/clarify | not read \\| in time |',
      '| `sess-1-8` | x # y | MAIN | ask/clarify | not answered |',
    ]);
  });

  it('is cut where it is long', () => {
    const unanswered = Array.from({ length: 25 }, (_, seq) => ({
      ...ASK,
      message: { ...MESSAGE, id: `sess-1-${seq}` },
    }));
    expect(shown(status({ unanswered }))).toMatch(/\n\n5 more\.$/);
  });
});
