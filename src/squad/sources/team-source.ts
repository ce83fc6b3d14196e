import { isDeepStrictEqual } from 'node:util';
import type { Playbook } from '../../model/plan.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { ReadingOptions } from '../../model/people/reading-options.ts';
import type { ReviewOptions, SprintOptions } from '../../model/sprint/options.ts';
import { createReadingPlaybook, frozenReading } from '../../playbooks/read-messages/index.ts';
import {
  createReviewPlaybook,
  createSprintPlaybook,
  frozenReview,
  frozenSprint,
} from '../../playbooks/sprint/index.ts';
import { counted } from '../../text/counted.ts';
import { plainJson, type Json } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { plainObjective } from '../preflight/read-input.ts';
import type { Source, Subject } from '../preflight/source.ts';

/** A run of the team, as squad itself submits it. */
export type NamedTeamRun =
  | { readonly sprint: SprintOptions }
  | { readonly review: ReviewOptions }
  | { readonly reading: ReadingOptions };

/** Its words are no settings, and its playbook is the only one that suits. */
export function teamSource(named: NamedTeamRun): Source {
  return {
    read: () =>
      Promise.resolve({
        subject: (_request, { redactor }): Subject => ({ ...subjectOf(redacted(named, redactor)), redacted: [] }),
      }),
    isOf: ({ options }) => isSame(named, options),
  };
}

function redacted(named: NamedTeamRun, redactor: Pick<Redactor, 'json'>): NamedTeamRun {
  if ('sprint' in named) return { sprint: redactor.json(named.sprint) };
  return 'review' in named ? { review: redactor.json(named.review) } : { reading: redactor.json(named.reading) };
}

function isSame(named: NamedTeamRun, options: Json): boolean {
  if ('sprint' in named) return frozenSprint(options)?.sprint === named.sprint.sprint;
  const [frozen, own] =
    'review' in named ? [frozenReview(options), named.review] : [frozenReading(options), named.reading];
  return isDeepStrictEqual(plainJson(frozen ?? null), plainJson(own));
}

function subjectOf(named: NamedTeamRun): Omit<Subject, 'redacted'> {
  if ('sprint' in named) {
    const { sprint, kickoff } = named.sprint;
    const title = plainLine(kickoff.milestone, 100);
    const text = `# ${title}\n\n${kickoff.text}`.trim();
    return {
      ...{ objective: plainObjective(text, sprint, title), source: sprint },
      ...{ playbook: createSprintPlaybook(named.sprint), names: { title } },
    };
  }
  if ('reading' in named) {
    const text = `Read ${counted(named.reading.messages.length, 'message')}.`;
    return withoutBranch(text, 'messages', createReadingPlaybook(named.reading));
  }
  const { requests, findings } = named.review;
  const text = `Plan ${counted(requests.length, 'request')} and ${counted(findings.length, 'finding')}.`;
  return withoutBranch(text, 'requests', createReviewPlaybook(named.review));
}

function withoutBranch(text: string, source: string, playbook: Playbook<unknown>): Omit<Subject, 'redacted'> {
  return {
    objective: plainObjective(text, source, text),
    source,
    makesBranch: false,
    playbook,
    names: { title: text },
  };
}
