import type { MailVerb } from '../../model/mail/kind.ts';
import type { Playbook } from '../../model/plan.ts';
import { mailChanges } from './mail.ts';
import { MAIL_ANSWER, mailAnswerForm } from './mail-ends.ts';
import { UNREVIEWED, type MailWork } from './mail-work.ts';

/** Verbs of every role, because every agent may be asked or get work. */
const TO_ANSWER: readonly MailVerb[] = ['send', 'report', 'done', 'fail'];

/** Adds the common effects of mail to a playbook. */
export function withMail<I>(playbook: Playbook<I>, work: MailWork = UNREVIEWED): Playbook<I> {
  return {
    ...playbook,
    schemas: { ...playbook.schemas, [MAIL_ANSWER]: mailAnswerForm },
    tools: (role) => [...new Set([...playbook.tools(role), ...TO_ANSWER])],
    advance: (view, event) => {
      const changes = mailChanges(view, event, work);
      if (changes === undefined) return playbook.advance(view, event);
      // The playbook waits for the last task to end, whatever it was about.
      const ended = event.type === 'task-done' || event.type === 'task-failed' || event.type === 'task-skipped';
      const goesOn = changes.some((change) => change.do === 'reopen-task');
      return ended && !goesOn ? [...changes, ...playbook.advance(view, event)] : changes;
    },
  };
}
