import { stateLabel, type IssueRecord } from '../../model/forge/issue-record.ts';
import type { IntakeDecision } from '../../rules/forge/decide-intake.ts';
import { leftText, questionText } from '../../rules/forge/issue-posts.ts';
import { isNotDone, type NotDone } from '../../substrate/ports/forge-answer.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { checkIssue } from './check-issue.ts';
import { hearAnswers } from './hear-answers.ts';
import { keepIssue, type IssuePorts } from './issue-ports.ts';
import { submitIssue } from './submit-issue.ts';
import { takeIssue } from './take-issue.ts';

/** Does one thing, and writes down that it is done. An answer: why it is not. */
export async function actOnIssue(
  ports: IssuePorts,
  decision: Exclude<IntakeDecision, { do: 'wait' }>,
): Promise<NotDone | undefined> {
  if (decision.do === 'look') return takeIssue(ports, decision);
  const record = ports.seen.records.get(decision.number);
  if (record === undefined) return undefined;
  const answer = await act(ports, record, decision);
  // One that is deleted, or moved to another repository.
  if (answer?.type === 'gone' && decision.do !== 'check') await keepIssue(ports, { ...record, gone: true });
  return answer;
}

async function act(
  ports: IssuePorts,
  record: IssueRecord,
  decision: Exclude<IntakeDecision, { do: 'wait' | 'look' }>,
): Promise<NotDone | undefined> {
  switch (decision.do) {
    case 'submit':
      return submitIssue(ports, record);
    case 'say-left':
      return say(ports, record, leftText(record.left ?? 'not-started', ports.intake.by, ports.intake.label));
    case 'say':
      return say(ports, record, decision.text);
    case 'label':
      return label(ports, record, decision);
    case 'ask':
      return ask(ports, record, decision.question);
    case 'hear':
      return hearAnswers(ports, record, decision.open);
    case 'check':
      return checkIssue(ports, record);
    case 'close':
      return keepIssue(ports, { ...record, over: true });
    case 'reopen': {
      const { over: _, withdrawn: __, ...rest } = record;
      return keepIssue(ports, { ...rest, reopened: true });
    }
    default:
      return decision satisfies never;
  }
}

/** Stands for one setting of the label: what is said about it is one comment. */
function markerOf({ set }: IssueRecord): string {
  return `issue/${set.id}`;
}

async function say(ports: IssuePorts, record: IssueRecord, text: string): Promise<NotDone | undefined> {
  const { number, comment, set } = record;
  const about = { number, marker: markerOf(record), text };
  const answer =
    comment === undefined
      ? await ports.forge.post({ ...about, since: set.at })
      : await ports.forge.edit({ ...about, id: comment.id });
  if (isNotDone(answer)) return answer;
  failpoint('forge.said');
  if (answer.type === 'edited') return keepIssue(ports, { ...record, comment: { id: comment?.id ?? '', says: text } });
  // A try before a kill may have said something else there.
  const same = await ports.forge.edit({ ...about, id: answer.id });
  if (isNotDone(same)) return same;
  await keepIssue(ports, { ...record, comment: { id: answer.id, says: text } });
  return undefined;
}

async function label(
  ports: IssuePorts,
  record: IssueRecord,
  { number, state, remove }: Extract<IntakeDecision, { do: 'label' }>,
): Promise<NotDone | undefined> {
  const answer = await ports.forge.relabel({ number, set: stateLabel(state), remove });
  if (isNotDone(answer)) return answer;
  failpoint('forge.labelled');
  await keepIssue(ports, { ...record, label: state });
  return undefined;
}

async function ask(
  ports: IssuePorts,
  record: IssueRecord,
  question: Extract<IntakeDecision, { do: 'ask' }>['question'],
): Promise<NotDone | undefined> {
  const { forge, intake } = ports;
  const { number, asked, run, set } = record;
  const text = questionText({ name: run?.name ?? '' }, { ...question, number: asked.length + 1 }, intake.by);
  const marker = `question/${set.id}/${question.id}`;
  const answer = await forge.post({ number, marker, text, since: set.at });
  if (isNotDone(answer)) return answer;
  failpoint('forge.asked');
  await keepIssue(ports, { ...record, asked: [...asked, { question: question.id, comment: answer.id }] });
  return undefined;
}
