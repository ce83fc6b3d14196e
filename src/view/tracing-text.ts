import type { RunEvent } from '../model/run-event.ts';
import type { TracedPlace } from '../model/tracing.ts';
import { counted } from '../text/counted.ts';
import { plainLine } from '../text/plain-text.ts';

/** Where spans go, or what the endpoint got and where it can be seen. */
export function tracingText(event: Extract<RunEvent, { type: 'tracing' }>): string {
  const where = placeText(event);
  if (event.state === 'begun') return `to ${where}, ${event.content ? 'with prompts and answers' : 'without content'}`;
  const { sent = 0, scored = 0, link } = event;
  const scores = scored === 0 ? '' : ` and ${counted(scored, 'score')}`;
  return `${counted(sent, 'span')}${scores} sent${lossText(event)}: ${link === undefined ? traceText(event, where) : plainLine(link, 300)}`;
}

/** `LangSmith, project “mine” (https://api.smith.langchain.com)`. */
export function placeText({ to, endpoint, project }: Omit<TracedPlace, 'content'>): string {
  const named = project === undefined ? '' : `, project “${plainLine(project, 100)}”`;
  return `${to === 'langsmith' ? 'LangSmith' : 'OTLP'}${named} (${plainLine(endpoint, 100)})`;
}

/** For people who look for it there. */
function traceText({ trace }: { readonly trace?: string | undefined }, where: string): string {
  return trace === undefined ? where : `${where}, trace ${plainLine(trace, 60)}`;
}

function lossText({
  dropped = 0,
  why,
  unscored,
}: {
  readonly dropped?: number | undefined;
  readonly why?: string | undefined;
  readonly unscored?: string | undefined;
}): string {
  const spans = dropped === 0 ? '' : `, ${dropped} dropped (${plainLine(why ?? 'the reason is unknown', 200)})`;
  return unscored === undefined ? spans : `${spans}, no scores (${plainLine(unscored, 200)})`;
}
