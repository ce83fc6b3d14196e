/** Everything to write a playbook. */
export type {
  AnswerFinding,
  AnswerForm,
  AnswerReading,
  CastMember,
  CastSource,
  OptionsSource,
  Parsed,
  Planning,
  PlannedEntry,
  PlanReading,
  Playbook,
  Playbooks,
  PlaybookSource,
  ProposedCriterion,
  Role,
} from '../model/plan.ts';
export type { StageView, TaskView, View } from '../model/plan.ts';
export type { MailView, Member, Objective } from '../model/plan/board.ts';
export type { PlanChange } from '../model/plan/change.ts';
export type { PlaybookEvent } from '../model/plan/event.ts';
export type { Cause, NewTask, Requirement, ReviewPolicy, TaskEnd, TaskStatus } from '../model/plan/task.ts';
export type { SettingsSection } from '../model/settings.ts';
export { withMail } from '../playbooks/shared/mail.ts';
export type { MailWork } from '../playbooks/shared/mail-work.ts';
export {
  addTask,
  answerSchema,
  cancelOrFinish,
  failRun,
  finishWhenEnded,
  workTask,
} from '../playbooks/shared/tasks.ts';
export type { Json } from '../text/json.ts';
