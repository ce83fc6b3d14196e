import { z } from 'zod';
import * as bodies from './bodies.ts';
import * as rules from './body-rules.ts';
import type { MailKindEntry } from './kind-entry.ts';
import { ASSIGN_MS, HANDOFF_MS, QUESTION_MS, REVIEW_MS, VERIFY_MS } from './times.ts';
import { HANDOFF } from './vocabulary.ts';

const ask = { type: 'ask', answers: null, task: 'optional' } as const;
const assignment = {
  ...ask,
  action: 'assign',
  task: 'required',
  taskState: 'open',
  changesPlan: true,
  line: ['summary', 'task_type'],
} as const;
const reply = { action: null, task: 'optional' } as const;

const AT_END = 'It takes effect when this turn completes.';

function text(description: string): z.ZodType {
  return z.string().exactOptional().describe(description);
}

/** Everything that is known of each kind of message: all else, from checks to commands and tools, is derived from this. */
export const KIND_TABLE = [
  {
    ...ask,
    ...{ name: 'review', action: 'review', verb: 'review', body: bodies.reviewBody, rule: rules.reviewRule },
    task: 'required',
    answerTime: { from: 'sent', ms: REVIEW_MS, field: 'body.review_deadline', silence: 'done' },
    filled: ['reviewers', 'review_deadline'],
    line: ['doc_path'],
    command: {
      name: 'review',
      does: 'Ask members to review a document.',
      flags: { doc_path: 'file' },
      example: ['squad mail review --to A,B --task DOC-1 --file docs/design.md --wait accepted'],
    },
    tool: { name: 'review', does: 'Ask members to review a document.' },
  },
  {
    ...assignment,
    ...{ name: 'assign', verb: 'assign', body: bodies.assignBody, rule: rules.dependenciesRule },
    answerTime: { from: 'sent', ms: ASSIGN_MS, field: 'deadline', silence: 'failed' },
    also: { summary: text('What to do, in a sentence.') },
    command: {
      name: 'assign',
      does: 'Give a member a task.',
      flags: { task_type: 'action' },
      defaults: { task_type: 'implement' },
      example: [
        'squad mail assign --to B --task FEAT-1 --action implement --files src/router.ts \\',
        '  --success-criteria "Tests pass,Code reviewed" --deadline 2h',
      ],
    },
    tool: {
      name: 'assign',
      does: `Give members a task. ${AT_END}`,
      defaults: { minutes: ASSIGN_MS / 60_000 },
    },
  },
  {
    ...assignment,
    name: 'handoff',
    title: 'hand-off',
    verb: 'handoff',
    body: bodies.handoffBody,
    rule: rules.dependenciesRule,
    taskType: HANDOFF,
    toRole: true,
    answerTime: { from: 'sent', ms: HANDOFF_MS, field: 'deadline', silence: 'failed' },
    filled: ['task_type'],
    also: { summary: text('What to do, in a sentence.') },
    command: { name: 'assign', action: HANDOFF },
    tool: {
      name: 'handoff',
      does: `Hand work over. ${AT_END}`,
      defaults: { minutes: HANDOFF_MS / 60_000 },
    },
  },
  {
    ...ask,
    ...{ name: 'clarify', action: 'clarify', verb: 'ask', body: bodies.clarifyBody },
    answerTime: { from: 'read', ms: QUESTION_MS, silence: 'open' },
    line: ['question'],
    command: {
      name: 'ask',
      action: 'clarify',
      does: 'Ask a question, or ask for a change to be verified.',
      example: [
        'squad mail ask --to MAIN --action clarify --task FEAT-1 --code-path src/router.ts#L145 \\',
        '  --question "which back-off?" --context "retries of acks"',
      ],
    },
    tool: {
      name: 'ask',
      does: 'Ask members a question.',
      defaults: { code_path: bodies.NOWHERE },
    },
    words: {
      field: 'question',
      command: {
        name: 'say',
        does: 'Ask MAIN in plain words. squad fills in what you are working on.',
        defaults: { code_path: bodies.NOWHERE, context: bodies.NOWHERE },
        example: ['squad mail say --as a "which port does the router take?"'],
      },
    },
  },
  {
    ...ask,
    ...{ name: 'verify', action: 'verify', verb: 'ask', body: bodies.verifyBody },
    taskState: 'verify_pending',
    answerTime: { from: 'read', ms: VERIFY_MS, silence: 'done' },
    line: ['question'],
    command: { name: 'ask', action: 'verify' },
    tool: { name: 'verify', does: 'Ask members whether a change is right.' },
  },
  {
    ...reply,
    name: 'review_feedback',
    title: 'report',
    type: 'report',
    action: 'review_feedback',
    verb: 'report',
    body: bodies.feedbackBody,
    rule: rules.feedbackRule,
    answers: ['review', 'verify'],
    findings: 'has_issues',
    filled: ['has_issues', 'issue_count'],
    fromAsk: ['doc_path'],
    complete: bodies.completeFeedback,
    line: ['issue_count', 'summary', 'doc_path'],
    command: {
      name: 'report',
      does: 'Report what a review found.',
      flags: { doc_path: 'file' },
      example: ['squad mail report --task DOC-1 --body-file review.json'],
    },
    tool: { name: 'report', does: 'Answer a review or a verify with the issues that you found.' },
  },
  {
    ...reply,
    ...{ name: 'note', type: 'send', verb: 'send', body: bodies.noteBody },
    answers: null,
    base64: true,
    also: { text: bodies.text('What you want to tell them.') },
    command: { name: 'send', action: 'note', flags: { text: 'summary' } },
    tool: { name: 'send', does: 'Tell members something that needs no answer.' },
  },
  {
    ...reply,
    ...{ name: 'answer', type: 'send', action: 'answer', verb: 'send', body: bodies.answerBody },
    answers: ['clarify'],
    changesPlan: true,
    also: { answer: text('The answer.'), doc_path: text('Where in the documentation the answer is.') },
    complete: bodies.completeAnswer,
    line: ['answer', 'text'],
    command: {
      name: 'send',
      action: 'answer',
      preset: true,
      does: 'Send an answer, or a note.',
      flags: { answer: 'summary' },
      example: [`squad mail send --to B --task FEAT-1 --body '{"doc_updated":true}'`],
    },
    words: {
      field: 'answer',
      command: {
        name: 'reply',
        does: 'Answer in plain words: the ask that --corr names, or the only open one.',
        example: ['squad mail reply "it takes 4711"', `squad mail reply --corr '#12' "yes"`],
      },
      tool: { name: 'reply', does: 'Answer a question.' },
    },
  },
  {
    ...reply,
    ...{ name: 'done', type: 'done', verb: 'done', body: bodies.doneBody, rule: rules.doneRule },
    answers: ['review', 'assign'],
    taskState: 'done',
    changesPlan: true,
    filled: ['status'],
    also: { summary: text('What was done.') },
    line: ['summary', 'status'],
    command: {
      name: 'done',
      does: 'Say that what you were asked for is done.',
      example: ['squad mail done --task FEAT-1', 'squad mail done --action verified'],
    },
    tool: { name: 'done', does: `Say that an assignment is done, or that a review found nothing. ${AT_END}` },
  },
  {
    ...reply,
    ...{ name: 'verified', type: 'done', action: 'verified', verb: 'done', body: bodies.verifiedBody },
    answers: ['verify'],
    changesPlan: true,
    findings: 'has_new_issues',
    also: { summary: text('What was done.') },
    complete: bodies.completeVerified,
    line: ['has_new_issues', 'summary'],
    command: {
      name: 'done',
      action: 'verified',
      flags: { new_issue_count: 'new-issues', has_new_issues: null },
      defaults: { new_issue_count: 0 },
    },
    tool: { name: 'verified', does: `Answer a verify. ${AT_END}`, defaults: { has_new_issues: false } },
  },
  {
    ...reply,
    ...{ name: 'fail', type: 'fail', verb: 'fail', body: bodies.failBody },
    answers: ['review', 'assign', 'clarify', 'verify'],
    taskState: 'failed',
    changesPlan: true,
    line: ['reason'],
    command: {
      name: 'fail',
      does: 'Say that what you were asked for cannot be done.',
      example: ['squad mail fail --task FEAT-1 --reason "the API is gone" --blocked-by FEAT-0'],
    },
    tool: { name: 'fail', does: `Say that what you were asked for cannot be done. ${AT_END}` },
  },
] as const satisfies readonly MailKindEntry[];
