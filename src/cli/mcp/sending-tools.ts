import type { MailDraft } from '../../model/mail/envelope.ts';
import type { Checked } from '../../model/mail/refusal.ts';
import {
  askInput,
  assignInput,
  doneInput,
  failInput,
  handoffInput,
  replyInput,
  reportInput,
  sendInput,
} from './arguments.ts';
import { findAsked, type Asked } from './asked.ts';
import {
  askDraft,
  assignDraft,
  doneDraft,
  failDraft,
  handoffDraft,
  noteDraft,
  replyDraft,
  reportDraft,
} from './drafts.ts';
import { defineTool, type MailTool, type ToolAnswer, type ToolDesk } from './tool.ts';

/** Everything that makes a message. */
export const SENDING_TOOLS: readonly MailTool[] = [
  defineTool({
    name: 'send',
    description: 'Tell members something that needs no answer.',
    verbs: ['send'],
    input: sendInput,
    run: (desk, given, key) => post(desk, noteDraft(given), key),
  }),
  defineTool({
    name: 'reply',
    description:
      'Answer a question (clarify) or a verify that was sent to you. A review is answered with `report` or `done`, an ' +
      'assignment with `done` or `fail`. Answering a message accepts it.',
    verbs: null,
    input: replyInput,
    run: (desk, given, key) => answer(desk, given, key, replyDraft),
  }),
  defineTool({
    name: 'report',
    description: 'Answer a review or a verify with the issues that you found, or with none.',
    verbs: ['report'],
    input: reportInput,
    run: (desk, given, key) => answer(desk, given, key, reportDraft),
  }),
  defineTool({
    name: 'ask',
    description:
      'Ask members something. The answer comes as mail, most likely in a later turn: do not wait for it in this one.',
    verbs: ['ask', 'review'],
    input: askInput,
    run: (desk, given, key) => postChecked(desk, askDraft(given, desk.now()), key),
  }),
  defineTool({
    name: 'assign',
    description: 'Give members a task. It takes effect when this turn of yours is completed.',
    verbs: ['assign'],
    input: assignInput,
    run: (desk, given, key) => post(desk, assignDraft(given, desk.now()), key),
  }),
  defineTool({
    name: 'handoff',
    description:
      'Hand work on to a role, or to a member that goes on where it left off. It takes effect when this turn of yours is ' +
      'completed.',
    verbs: ['handoff'],
    input: handoffInput,
    run: (desk, given, key) => post(desk, handoffDraft(given, desk.now()), key),
  }),
  defineTool({
    name: 'done',
    description:
      'Say that what you were asked for by mail is done: an assignment; a review or verify with nothing to report. It ' +
      'takes effect when this turn of yours is completed.',
    verbs: ['done'],
    input: doneInput,
    run: (desk, given, key) => answer(desk, given, key, doneDraft),
  }),
  defineTool({
    name: 'fail',
    description:
      'Say that what you were asked for by mail cannot be done, and why. It takes effect when this turn of yours is ' +
      'completed.',
    verbs: ['fail'],
    input: failInput,
    run: (desk, given, key) => answer(desk, given, key, failDraft),
  }),
];

/** To whoever asked, about what was asked. */
function answer<T extends { readonly corr?: string; readonly task_id?: string }>(
  desk: ToolDesk,
  given: T,
  key: string,
  make: (given: T, asked: Asked) => Checked<MailDraft>,
): ToolAnswer {
  const asked = findAsked(desk, given);
  if (!asked.ok) return postChecked(desk, asked, key);
  const said = postChecked(desk, make(given, asked.value), key);
  // Whoever answers it has read it.
  if (said.ok && asked.value.message !== undefined) desk.mail.accept(desk.party, [asked.value.id]);
  return said;
}

/** What cannot become a message is on record like a message that was refused. */
function postChecked(desk: ToolDesk, draft: Checked<MailDraft>, key: string): ToolAnswer {
  if (draft.ok) return post(desk, draft.value, key);
  desk.mail.refuse(desk.party, draft.refusal);
  return draft;
}

function post({ mail, party }: ToolDesk, draft: MailDraft, key: string): ToolAnswer {
  const answered = mail.send(party, draft, key);
  if (!answered.sent) {
    const { reason, field, rule } = answered.refusal;
    // Arguments of a tool stand beside each other, whatever of them becomes the body.
    return { ok: false, refusal: { reason, field: field.replace(/^body\./, ''), rule } };
  }
  const { id, seq, to, deadline } = answered.message;
  const waits = party.by === 'turn' && mail.deferredBy(party.attemptId).some((held) => held.id === id);
  const effect = waits ? 'when this turn is completed' : 'now';
  const until = deadline === undefined ? {} : { deadline };
  const content = { id, seq, to: [...to], takes_effect: effect, repeated: answered.repeated, ...until };
  return { ok: true, content };
}
