/** The version of the message protocol. Its lists are closed: other values are refused. */
export const MAIL_VERSION = '1';

export const MAIL_TYPES = ['ask', 'report', 'send', 'done', 'fail'] as const;
export type MailType = (typeof MAIL_TYPES)[number];

export const ISSUE_CATEGORIES = ['func', 'perf', 'ux', 'security', 'docs'] as const;
export const ISSUE_SEVERITIES = ['high', 'medium', 'low'] as const;

/** Why a message is refused, and why a task fails. */
export const MAIL_REASONS = [
  'queue_full',
  'invalid_format',
  'not_authorized',
  'task_cancelled',
  'deadline_exceeded',
  'missing_dependency',
] as const;
export type MailReason = (typeof MAIL_REASONS)[number];

/** States of a mail task. An assignment opens one; a verify waits for its answer. */
const MAIL_TASK_STATUSES = ['open', 'verify_pending', 'verified', 'done', 'failed'] as const;
export type MailTaskStatus = (typeof MAIL_TASK_STATUSES)[number];

/** `body.task_type` of an assignment that hands work on to another role or agent. */
export const HANDOFF = 'hand-off';

/** The address of the coordinator: the agent with the role `main`, or else a person. */
export const MAIN = 'MAIN';

/** The sender of the router's own messages: dead letters, missed deadlines. No one else can send as ROUTER. */
export const ROUTER = 'ROUTER';
