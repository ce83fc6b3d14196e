import type { ReviewOptions } from '../../model/sprint/options.ts';
import { renderPrompt, type ChangedPrompts } from '../../prompts/render.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { StageList } from '../stages/stage-list.ts';
import { attachmentText, backlogText } from './backlog-text.ts';

export const SOURCE = 'SOURCE';
export const PLANS = 'PLAN_REQUESTS';

/** An agent makes candidates of findings, where the team has one; if it fails, squad’s rule does. Then a planner makes items. */
export function reviewList(options: ReviewOptions, roles: readonly string[], prompts?: ChangedPrompts): StageList {
  const { requests, findings, files } = options;
  const found = findings
    .map(({ id, source, title, detail }) => `## ${id} (${source}): ${plainLine(title)}\n\n${detail}`)
    .join('\n\n');
  const asked = requests.map(({ id, text, by, joined, attachments }) =>
    [
      `## ${id}, from ${plainLine(by)}\n\n${text.trim()}`,
      ...joined.map((one) => `Asked again: ${one}`),
      ...attachmentText(attachments, files),
    ].join('\n\n'),
  );
  const facts = { requests: asked.join('\n\n'), found, backlog: backlogText(options) };
  // Braces are placeholders of a list.
  const literal = (text: string): string => text.replaceAll('{', '{{');
  const source = {
    ...{ id: SOURCE, title: 'Make candidates', by: ['sourcer'], onFail: 'skip' as const },
    ...{ brief: literal(renderPrompt('sprint/source', { found }, prompts)), makes: { answer: 'candidates' } },
  };
  const plans = {
    ...{ id: PLANS, title: 'Plan requests', by: ['planner'] },
    ...{ brief: literal(renderPrompt('sprint/requests', facts, prompts)), makes: { answer: 'requests' } },
  };
  return { stages: [...(roles.includes('sourcer') ? [source] : []), plans] };
}
