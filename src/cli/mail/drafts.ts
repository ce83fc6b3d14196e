import { SquadError } from '../../model/errors.ts';
import type { MailDraft } from '../../model/mail/envelope.ts';
import type { MailAction } from '../../model/mail/kind.ts';
import { MAIN, type MailType } from '../../model/mail/vocabulary.ts';
import { bodyOf } from './bodies.ts';
import { atMoment } from './moment.ts';
import type { SendOptions } from './options.ts';
import type { DraftFacts, Sending } from './sending.ts';

/** Pure: the flags of one verb as a message of the protocol. Throws `usage` where a flag is missing or says nothing. */
export function draftOf(verb: Sending, options: SendOptions, facts: DraftFacts): MailDraft {
  if (verb === 'assign' && options.deadline === undefined) throw missing(verb, '--deadline');
  const { type, action } = kindOf(verb, options);
  const { asked, work } = facts;
  const task = options.task ?? asked?.task_id ?? work?.task;
  const corr = asked?.id ?? options.corr;
  const owner = options.owner ?? (verb === 'say' ? work?.owner : undefined);
  return {
    to: recipientsOf(verb, options, facts),
    type,
    ...(action === undefined ? {} : { action }),
    ...(task === undefined ? {} : { task_id: task }),
    ...(owner === undefined ? {} : { owner }),
    ...(verb === 'assign' && options.deadline !== undefined ? { deadline: atMoment(options.deadline, facts.now) } : {}),
    ...(corr === undefined ? {} : { corr }),
    ...(options.ttl === undefined ? {} : { ttl_ms: options.ttl }),
    body: JSON.stringify(bodyOf(verb, options, facts)),
  };
}

function kindOf(verb: Sending, { action }: SendOptions): { type: MailType; action?: MailAction } {
  switch (verb) {
    case 'review':
      return { type: 'ask', action: 'review' };
    case 'report':
      return { type: 'report', action: 'review_feedback' };
    case 'assign':
      return { type: 'ask', action: 'assign' };
    case 'ask':
      return { type: 'ask', action: action === 'verify' ? 'verify' : 'clarify' };
    case 'say':
      return { type: 'ask', action: 'clarify' };
    case 'send':
      return action === 'note' ? { type: 'send' } : { type: 'send', action: 'answer' };
    case 'reply':
      return { type: 'send', action: 'answer' };
    case 'done':
      return action === 'verified' ? { type: 'done', action: 'verified' } : { type: 'done' };
    case 'fail':
      return { type: 'fail' };
    default:
      return verb satisfies never;
  }
}

/** Whoever asked; else MAIN, which cannot write to itself. */
function recipientsOf(verb: Sending, { to }: SendOptions, { asked, from }: DraftFacts): readonly string[] {
  if (to !== undefined && to.length > 0) return to;
  if (asked !== undefined) return [asked.from];
  if (from !== MAIN && verb !== 'review' && verb !== 'assign') return [MAIN];
  throw missing(verb, '--to');
}

function missing(verb: Sending, flag: string): SquadError {
  return new SquadError({
    code: 'usage',
    message: `squad mail ${verb} needs ${flag}`,
    next: `See an example: \`squad mail ${verb} --help\`.`,
  });
}
