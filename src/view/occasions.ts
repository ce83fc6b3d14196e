import type { RunEvent } from '../model/run-event.ts';
import type { RunEnd } from './running-run.ts';

/** Something for which a person is called. */
export interface Occasion {
  readonly what: 'question' | 'overdue' | RunEnd['outcome'];
  readonly text: string;
}

/** Questions within this time are one occasion. */
const AT_ONCE_MS = 1_000;

/** An agent asks in the middle of its turn. */
export function asksPermission(event: RunEvent): event is Extract<RunEvent, { type: 'notice' }> {
  return event.type === 'notice' && event['asks'] === true;
}

/** Its text says who asks. */
function isOfMail(event: RunEvent): boolean {
  return event.type === 'question-asked' && event.question.startsWith('mail/');
}

/** A person has not answered in time. What an agent owes, squad itself acts on. */
function overdue({ person, message, line }: Extract<RunEvent, { type: 'mail-overdue' }>): Occasion | undefined {
  if (person !== true) return undefined;
  return { what: 'overdue', text: `not answered in time: ${line ?? message}` };
}

/** Finds what a person is called for in one engine's work on a run: once for each occasion. */
export function createOccasions() {
  let askedAt = -Infinity;
  let isWaitedFor = false;
  return {
    of: (event: RunEvent): Occasion | undefined => {
      if (event.type === 'mail-overdue') return overdue(event);
      if (event.type !== 'question-asked' && !asksPermission(event)) return undefined;
      const isNew = event.at - askedAt >= AT_ONCE_MS;
      askedAt = event.at;
      isWaitedFor ||= event.type === 'question-asked';
      return isNew ? { what: 'question', text: isOfMail(event) ? event.text : `squad asks: ${event.text}` } : undefined;
    },
    /** The person who interrupted it knows, and the one that it waits for was called before. */
    ofEnd: ({ name, headline, outcome }: Pick<RunEnd, 'name' | 'headline' | 'outcome'>): Occasion | undefined => {
      if (outcome === 'interrupted' || (outcome === 'waiting' && isWaitedFor)) return undefined;
      return { what: outcome, text: `${name}: ${headline}` };
    },
  };
}
