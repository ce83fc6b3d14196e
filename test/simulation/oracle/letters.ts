import { addressOf } from '../../../src/model/mail/address.ts';
import type { MailDraft } from '../../../src/model/mail/envelope.ts';
import { draw, drawOf } from '../world/draw.ts';
import { formOf, isReview, type Cue, type Part } from '../world/simulated-agents.ts';
import { agentOf, type Troupe } from './troupe.ts';
import { assignment } from './strangers.ts';

/** What a turn does while it is at work, apart from its files. `works`: it will come to its own end. */
export function meanwhileOf(
  troupe: Troupe,
  cue: Cue,
  owns: boolean,
  works: boolean,
  afterMs: number,
): Part['meanwhile'] {
  const { seed, weather, record, people } = troupe;
  const { task, number } = cue;
  const form = formOf(cue.request);
  const isWorst = form === 'verdicts' || isReview(cue.request);
  if (isWorst && draw(seed, 'ambush', task, form, number) < weather.ambush && record.moved.length < 4) {
    return { afterMs, act: () => people.moveBranch('turn', task, form, number) };
  }
  if (!works) return undefined;
  if (draw(seed, 'gives up', task, form, number) < weather.givesUp) return { afterMs, act: () => giveUp(troupe, cue) };
  if (form === 'answer doc_path doc_updated reason' && draw(seed, 'by tool', task) < 0.5)
    return { afterMs, act: () => answerByTool(troupe, cue) };
  if (form === 'assignments summary' && weather.mail > 0) return { afterMs, act: () => assignByTool(troupe, cue) };
  if (!owns || draw(seed, 'writes', task, number) >= weather.mail || record.orders.length >= 3) return undefined;
  return { afterMs, act: () => writeMail(troupe, cue) };
}

/** Work for another, or a question that its own task waits for. */
function writeMail(troupe: Troupe, cue: Cue): void {
  const { seed, weather, stage, definition, record } = troupe;
  const { task, number, request } = cue;
  const now = stage.time.now();
  const me = definition.agents.find(({ name }) => name === agentOf(cue));
  const asks =
    weather.playbook === 'council' || weather.playbook === 'session' || draw(seed, 'asks', task, number) < 0.3;
  if (asks) {
    if (task.startsWith('answer-') || number > 1) return;
    const body = { code_path: '-', question: 'how?', context: 'the work' };
    const id = send(troupe, cue, { to: ['MAIN'], type: 'ask', action: 'clarify', body: JSON.stringify(body) });
    if (id !== undefined) record.questions.push({ turn: request.turnId, id });
    return;
  }
  const others = [...new Set(definition.agents.map(({ role }) => role))].filter((role) => role !== me?.role);
  const role = drawOf(['builder', ...others], seed, 'hands to', task, number);
  const target = definition.agents.find((other) => other.role === role && other.name !== me?.name);
  const draft = assignment(target === undefined ? role : addressOf(target), task, now, 'hand-off');
  const answer = send(troupe, cue, draft);
  if (answer !== undefined) record.orders.push({ turn: request.turnId, task, id: answer });
}

/** Some of what MAIN assigns it says by a tool, and the rest, or the same again, in its answer. */
function assignByTool(troupe: Troupe, cue: Cue): void {
  const { stage, definition } = troupe;
  const member = definition.agents.find(({ role }) => role === 'member');
  if (member === undefined) return;
  const id = send(troupe, cue, assignment(addressOf(member), 'T-1', stage.time.now()));
  if (id !== undefined) troupe.record.orders.push({ turn: cue.request.turnId, task: cue.task, id });
}

/** MAIN answers while it works, and says that the documentation has it now. */
function answerByTool(troupe: Troupe, cue: Cue): void {
  const asked = troupe.record.questions.find(({ id }) => cue.request.prompt.includes(id));
  const from = troupe.record.turns.find(({ id }) => id === asked?.turn)?.agent;
  const asker = troupe.definition.agents.find(({ name }) => name === from);
  if (asked === undefined || asker === undefined) return;
  const body = JSON.stringify({ answer: 'so, by tool', doc_updated: true });
  const about = { to: [addressOf(asker)], type: 'send', action: 'answer', corr: asked.id, body } as const;
  send(troupe, cue, about);
}

/** It says that its task cannot be done, and ends its turn as if nothing were wrong. */
function giveUp(troupe: Troupe, cue: Cue): void {
  const body = JSON.stringify({ reason: 'it cannot be done', blocked_by: [] });
  const id = send(troupe, cue, { to: ['MAIN'], type: 'fail', body });
  if (id !== undefined) troupe.record.givenUp.push({ turn: cue.request.turnId, task: cue.task, id });
}

function send({ stage, definition }: Troupe, cue: Cue, draft: MailDraft): string | undefined {
  const me = definition.agents.find(({ name }) => name === agentOf(cue));
  const mail = stage.ledger()?.mail;
  if (me === undefined || mail === undefined) return undefined;
  const party = { by: 'turn', runId: stage.run.id, address: addressOf(me), attemptId: cue.request.turnId } as const;
  const answer = mail.send(party, draft);
  return answer.sent ? answer.message.id : undefined;
}
