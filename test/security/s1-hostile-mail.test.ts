import { describe, expect, it } from 'vitest';
import { applyWork } from '../../src/rules/plan-step.ts';
import { createBoard } from '../../src/rules/board.ts';
import { changePlan, applyInputs } from '../../src/rules/plan-step.ts';
import { readInput } from '../../src/rules/read-input.ts';
import { renderMail, type PromptMessage } from '../../src/rules/prompts/mail-block.ts';
import type { Json } from '../../src/text/json.ts';
import { humanLine } from '../../src/model/mail/human-line.ts';
import type { MailMessage } from '../../src/model/mail/envelope.ts';
import type { Playbook } from '../../src/model/plan.ts';
import type { Board, RunFacts } from '../../src/model/plan/board.ts';
import { createCouncilPlaybook } from '../../src/playbooks/council/index.ts';
import { withDeliveryList } from '../support/delivery-list.ts';
import { createDeliveryPlaybook } from '../../src/playbooks/delivery/index.ts';
import { HOSTILE_MAIL } from '../fixtures/hostile-mail.ts';
import { check, EPOCH, idOf, NOW, SESSION } from '../model/mail/support.ts';
import { factsOf, member } from '../playbooks/simulator.ts';
import { violations } from '../substrate/ledger/support.ts';
import { assign, MINUTE, openMailRoom, person, review, sent } from '../substrate/ledger/mail/support.ts';
import { draftsWith, FORGED } from './s1-drafts.ts';
import { ALL } from '../support/lane.ts';

const HARMLESS = 'Which of the two is meant?';
const ASKED = { review: idOf(1), assign: idOf(2) };

/** Says which text it was that does not hold. */
function eachText(holds: (text: string, index: number) => void): void {
  for (const [index, text] of HOSTILE_MAIL.entries()) {
    try {
      holds(text, index);
    } catch (error) {
      throw new Error(`of ${JSON.stringify(text.slice(0, 60))}`, { cause: error });
    }
  }
}

/** A message of A's as the router would keep it. */
function messageOf(draft: unknown): MailMessage {
  const checked = check('A', draft);
  if (!checked.ok) throw new Error(JSON.stringify(checked.refusal));
  const { verb: _verb, fields: _fields, ...kept } = checked.draft;
  const made = { session: SESSION, epoch: EPOCH, seq: 99, id: idOf(99), agent_instance: 'a-1', from: 'A', ts: NOW };
  return { v: '1', ...made, ...kept };
}

const envelopeOf = ({ body: _body, ...envelope }: MailMessage): object => envelope;
const harmless = Object.entries(draftsWith(HARMLESS, ASKED));

describe('S1: what a message says is not what it is', () => {
  it('S1: there are enough texts, no two the same', () => {
    expect(new Set(HOSTILE_MAIL).size).toBe(HOSTILE_MAIL.length);
    expect(HOSTILE_MAIL.length).toBeGreaterThanOrEqual(150);
  });

  it('S1: as words, each is the message that a harmless one is', () =>
    eachText((text) => {
      const hostile = Object.values(draftsWith(text, ASKED)).map(messageOf);
      expect(hostile.map(envelopeOf)).toEqual(harmless.map(([, draft]) => envelopeOf(messageOf(draft))));
      for (const message of hostile) {
        expect(message.body).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
        const line = humanLine(message, message.body, 'en');
        expect(line).toMatch(/^from:A \| /);
        expect(line.match(/\| /g)?.length).toBe(message.action === 'clarify' ? 3 : 4);
        expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      }
    }));

  it('S1: as a body, a message or a field, each is refused, or is nothing more than words', () =>
    eachText((text) => {
      for (const [, draft] of harmless) {
        const asBody = check('A', { ...draft, body: text });
        if (asBody.ok) expect(envelopeOf(messageOf({ ...draft, body: text }))).toEqual(envelopeOf(messageOf(draft)));
        else expect(asBody.refusal.field).toMatch(/^body\b/);
        for (const field of ['action', 'owner', 'corr', 'session', 'v', 'body_encoding']) {
          expect(check('A', { ...draft, [field]: text }).ok, field).toBe(false);
        }
        expect(check('A', { ...draft, to: [text] }).ok).toBe(false);
      }
      expect(check('A', parsed(text)).ok).toBe(false);
    }));
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

describe('S1: what the ledger keeps', () => {
  it('S1: nothing that is not A’s to change is another after all that A could say', { timeout: 300_000 }, () => {
    const room = openMailRoom();
    const { mail, ledger, lease, clock, path } = room;
    const deadline = clock.time + 60 * MINUTE;
    const asked = {
      review: sent(mail.send(person('MAIN'), review(['A', 'B']))),
      assign: sent(mail.send(person('MAIN'), assign(['A'], deadline, { task_id: 'FEAT-1' }))),
    };
    sent(mail.send(person('MAIN'), assign(['B'], deadline, { task_id: 'OTHER' })));
    room.turn('a-1', 'a');
    room.turn('b-1', 'b');
    const party = mail.bearer(mail.issueTurnToken(lease, 'a-1'));
    const other = mail.issueTurnToken(lease, 'b-1');
    if (party === undefined) throw new Error('the token is nobody’s');
    const last = ledger.events({ stream: 'r' }).at(-1)?.seq ?? 0;
    const state = () => ({
      policy: mail.policy('r'),
      session: { ...mail.session('r'), lastSeq: 0 },
      other: mail.status('r').tasks.filter(({ id }) => id !== 'FEAT-1'),
      inboxes: ['B', 'T'].map((address) => mail.inbox(person(address))),
      bearer: mail.bearer(other),
      attempts: ['a-1', 'b-1'].map((id) => ledger.attempt(id)),
      run: ledger.run('r'),
    });
    const before = state();

    eachText((text, index) => {
      const drafts = Object.values(draftsWith(text, asked));
      const draft = drafts[index % drafts.length];
      sent(mail.send(party, draft));
      expect(mail.send(party, parsed(text)).sent).toBe(false);
      // Each of these costs the disk a commit.
      if (index % 4 > 0) return;
      expect(mail.send({ ...party, address: text }, draft).sent).toBe(false);
      expect(mail.bearer(text)).toBeUndefined();
    });

    expect(state()).toEqual(before);
    const news = ledger.events({ stream: 'r' }).filter(({ seq }) => seq > last);
    // Its reports accept the asks that they answer.
    const [accepted, others] = [true, false].map((own) =>
      news.filter(({ type }) => (type === 'mail-accepted') === own),
    );
    for (const { data } of accepted ?? []) expect(data).toMatchObject({ to: 'A' });
    expect(new Set(others?.map(({ type }) => type))).toEqual(new Set(['mail-sent', 'mail-refused']));
    const made = news.filter(({ type }) => type === 'mail-sent');
    expect(made).toHaveLength(HOSTILE_MAIL.length);
    for (const { data } of made) expect(data).toMatchObject({ from: 'A', to: ['MAIN'] });
    const read = mail.inbox(person('MAIN'), 1_000).map(({ message: { from, type } }) => `${from} ${type}`);
    expect(new Set(read)).toEqual(new Set(['A ask', 'A report']));
    // What A said of its own task counts once its turn has ended, and of no other.
    room.settle('a-1');
    expect(mail.status('r').tasks.map(({ id, status }) => [id, status])).toEqual(
      expect.arrayContaining([['OTHER', 'open']]),
    );
    expect(violations(path)).toEqual([]);
  });
});

/** Keys under which words are passed on. */
const WORDS = new Set(['body', 'brief', 'title', 'why', 'text']);

const TEAM = [member('main', 'main'), member('a', 'member'), member('b', 'member')];
const CREW = [member('main', 'planner'), member('a', 'builder'), member('b', 'reviewer')];

planKeeps('council', createCouncilPlaybook(), factsOf(TEAM));
planKeeps('delivery', createDeliveryPlaybook(), withDeliveryList(factsOf(CREW)));

function planKeeps<I>(name: string, playbook: Playbook<I>, facts: RunFacts): void {
  describe(`S1: the plan of a ${name}`, () => keepsPlan(playbook, boardOf(playbook, facts)));
}

function keepsPlan(playbook: Pick<Playbook<never>, 'name' | 'advance'>, board: Board): void {
  const task = [...board.tasks.keys()][0] ?? '';
  /** All that follows, but for the words in it. */
  const follows = (draft: unknown): string => {
    const message = messageOf(draft);
    const reading = { message, body: JSON.parse(message.body) as Json, via: task };
    const event = { stream: 'r', seq: 9, type: 'mail-sent', at: 9, cause: null, epoch: 1, data: { held: null } };
    const step = applyInputs(board, playbook, readInput(event, { mail: reading }));
    expect(step.board.facts).toBe(board.facts);
    const { pauses, switches, accounts, finished } = step.board;
    expect([pauses, switches, accounts, finished]).toEqual([board.pauses, board.switches, board.accounts, null]);
    return JSON.stringify([step.entries, step.effects], (key, value: unknown) => (WORDS.has(key) ? undefined : value));
  };
  const expected = new Map(harmless.map(([kind, draft]) => [kind, follows(draft)]));

  it('S1: hears mail at all', () => {
    expect(new Set(expected.values()).size).toBeGreaterThan(1);
  });

  it('S1: is the same after each text as after harmless words', ALL, () =>
    eachText((text) => {
      for (const [kind, draft] of Object.entries(draftsWith(text, ASKED))) {
        expect(follows(draft)).toBe(expected.get(kind));
      }
    }),
  );

  it.each(FORGED.map((forged) => [JSON.stringify(forged), forged] as const))(
    'S1: makes nothing of %s',
    (_text, forged) => {
      for (const [kind, draft] of Object.entries(draftsWith(HARMLESS, ASKED, forged))) {
        expect(follows(draft)).toBe(expected.get(kind));
      }
    },
  );
}

/** Begun, with A at work on the first task. */
function boardOf<I>(playbook: Playbook<I>, facts: RunFacts): Board {
  const parsed = playbook.parse(facts);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  const planned = changePlan(createBoard(facts), playbook, playbook.plan(parsed.input), { seq: 1, at: 1 }).board;
  const due = [...planned.timers.keys()].map((id) => ({ seq: 2, at: 2, event: { type: 'timer' as const, id } }));
  const begun = applyInputs(planned, playbook, due).board;
  const [task = ''] = begun.tasks.keys();
  const started = {
    type: 'attempt-started',
    attempt: 'a-1',
    agent: 'a',
    account: 'x',
    session: 's',
    review: null,
  } as const;
  return applyWork(begun, task, started, { seq: 3, at: 3 }).board;
}

describe('S1: a prompt', () => {
  const message = (body: string): PromptMessage => ({ id: idOf(99), from: 'A', type: 'send', asks: null, body });
  const [before = ''] = renderMail([message(HARMLESS)]).split('<message>');

  it('S1: keeps each text in its fence', () =>
    eachText((text) => {
      const bodies = [text, ...Object.values(draftsWith(text, ASKED)).map((draft) => messageOf(draft).body)];
      for (const body of bodies) {
        const shown = renderMail([message(body), message(HARMLESS)]);
        expect(shown.length).toBeLessThan(40_000);
        expect(shown.startsWith(before)).toBe(true);
        const [, tag = ''] = /^<(message(?:-\d+)?)>\n/.exec(shown.slice(before.length)) ?? [];
        expect(tag).not.toBe('');
        const end = shown.indexOf(`\n</${tag}>`, before.length);
        // What comes behind the fence is the next letter, as its own head has it, and no line of this one.
        expect(shown.slice(end)).toBe(
          `\n</${tag}>\n\nFrom A: send · id ${idOf(99)}\n<message>\n${HARMLESS}\n</message>`,
        );
      }
    }));
});
