import type { Json } from '../../../src/text/json.ts';
import { HOUR, idOf, NOW } from './support.ts';

export interface Draft {
  readonly by: string;
  /** The body as the object that it is the text of. */
  readonly body: Readonly<Record<string, Json>>;
  readonly said: Readonly<Record<string, Json>>;
}

const draft = (by: string, said: Draft['said'], body: Draft['body']): Draft => ({ by, said, body });

export const ISSUE = {
  issue_group: 'msg-format-1',
  doc_path: 'docs/design.md#L110',
  code_paths: ['src/router.py#L50', 'src/router.py#L88'],
  code_span: { start_line: 50, end_line: 88 },
  category: 'func',
  severity: 'high',
  summary: 'seq/id 规则与数据模型冲突',
  suggestion: '由 Router 生成并使用 <session>-<epoch>-<seq>',
};

/** A good one of each kind of message. */
export const GOOD = {
  review: draft(
    'MAIN',
    { to: ['A', 'B'], type: 'ask', action: 'review', task_id: 'DOC-1', owner: 'MAIN' },
    { doc_path: 'docs/design.md', focus: ['func'], reviewers: ['A', 'B'], review_deadline: NOW + HOUR },
  ),
  assign: draft(
    'MAIN',
    { to: ['C'], type: 'ask', action: 'assign', task_id: 'FEAT-9', owner: 'MAIN', deadline: NOW + HOUR },
    { task_type: 'implement', files: ['src/router.py'], success_criteria: ['tests pass'], dependencies: ['DOC-1'] },
  ),
  handoff: draft(
    'builder-1',
    { to: ['reviewer'], type: 'ask', action: 'assign', task_id: 'FEAT-10', deadline: NOW + HOUR },
    { task_type: 'hand-off', files: ['src/a.ts'], success_criteria: ['reviewed'], dependencies: [] },
  ),
  clarify: draft(
    'A',
    { to: ['MAIN'], type: 'ask', action: 'clarify', task_id: 'FEAT-1', corr: idOf(2) },
    {
      code_path: 'src/router.py#L145',
      question: 'retry backoff?',
      context: '当前是固定500ms',
      expected: '是否需要指数退避？',
      doc_path: 'docs/design.md#L120',
    },
  ),
  verify: draft(
    'MAIN',
    { to: ['A', 'B'], type: 'ask', action: 'verify', task_id: 'DOC-1' },
    { doc_path: 'docs/design.md', changes_summary: 'says what retries are', question: 'is it clear now?' },
  ),
  feedback: draft(
    'B',
    { to: ['MAIN'], type: 'report', action: 'review_feedback', task_id: 'DOC-1', corr: idOf(1) },
    {
      doc_path: 'docs/design.md',
      has_issues: true,
      issue_count: 2,
      issues: [
        ISSUE,
        {
          doc_path: 'docs/design.md#L140',
          doc_paths: ['docs/design.md#L150', 'docs/ops.md#L30'],
          category: 'docs',
          severity: 'medium',
          summary: 'ack 规则缺少超时说明',
          suggestion: '补充 ack_timeout 行为',
        },
      ],
      summary: '发现2处需要调整以匹配流程',
      questions: ['report 是否允许无 corr？'],
    },
  ),
  note: draft('builder-1', { to: ['MAIN'], type: 'send' }, { text: 'half of it is there' }),
  answer: draft(
    'MAIN',
    { to: ['A'], type: 'send', action: 'answer', task_id: 'FEAT-1', corr: idOf(4) },
    { doc_updated: true, base_delay_ms: 100, strategy: 'exponential_backoff' },
  ),
  done: draft('A', { to: ['MAIN'], type: 'done', task_id: 'FEAT-1', corr: idOf(2) }, { commits: ['abc'] }),
  noIssues: draft('A', { to: ['MAIN'], type: 'done', task_id: 'DOC-1', corr: idOf(1) }, { status: 'no_issues' }),
  verified: draft(
    'A',
    { to: ['MAIN'], type: 'done', action: 'verified', task_id: 'DOC-1', corr: idOf(3) },
    { has_new_issues: false, new_issue_count: 0 },
  ),
  fail: draft(
    'A',
    { to: ['MAIN'], type: 'fail', task_id: 'FEAT-1', corr: idOf(2) },
    { reason: 'missing_dependency', blocked_by: ['DOC-1'] },
  ),
} as const satisfies Readonly<Record<string, Draft>>;

/** As it goes over the wire. */
export function wire({ said, body }: Draft): Record<string, Json> {
  return { ...said, body: JSON.stringify(body) };
}

/** The same with other fields; undefined takes one out. */
export function but(one: Draft, said: Readonly<Record<string, unknown>>, body: Readonly<Record<string, unknown>> = {}) {
  return { ...one.said, body: JSON.stringify({ ...one.body, ...body }), ...said };
}

export function without(one: Draft, name: string) {
  return but(one, { [name]: undefined });
}
