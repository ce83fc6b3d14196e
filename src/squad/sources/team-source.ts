import { isDeepStrictEqual } from 'node:util';
import type { ReviewOptions, SprintOptions } from '../../model/sprint/options.ts';
import {
  createReviewPlaybook,
  createSprintPlaybook,
  frozenReview,
  frozenSprint,
} from '../../playbooks/sprint/index.ts';
import { counted } from '../../text/counted.ts';
import { plainJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { plainObjective } from '../preflight/read-input.ts';
import type { Source, Subject } from '../preflight/source.ts';

/** A run of the team, as squad itself submits it. */
export type NamedTeamRun = { readonly sprint: SprintOptions } | { readonly review: ReviewOptions };

/** Its words are no settings, and its playbook is the only one that suits. */
export function teamSource(named: NamedTeamRun): Source {
  return {
    read: () =>
      Promise.resolve({
        subject: (_request, { redactor }): Subject => ({
          ...subjectOf(
            'sprint' in named ? { sprint: redactor.json(named.sprint) } : { review: redactor.json(named.review) },
          ),
          redacted: [],
        }),
      }),
    isOf: ({ options }) =>
      'sprint' in named
        ? frozenSprint(options)?.sprint === named.sprint.sprint
        : isDeepStrictEqual(plainJson(frozenReview(options) ?? null), plainJson(named.review)),
  };
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
  const { requests, findings } = named.review;
  const text = `Plan ${counted(requests.length, 'request')} and ${counted(findings.length, 'finding')}.`;
  return {
    ...{ objective: plainObjective(text, 'requests', text), source: 'requests', makesBranch: false },
    ...{ playbook: createReviewPlaybook(named.review), names: { title: text } },
  };
}
