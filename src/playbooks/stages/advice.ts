import { agentAt } from '../../model/mail/address.ts';
import { MAIN } from '../../model/mail/vocabulary.ts';
import type { View } from '../../model/plan.ts';
import type { MailView, Member } from '../../model/plan/board.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { counted } from '../../text/counted.ts';
import { grantsOf } from './path-grants.ts';
import { stageOf } from './list-facts.ts';
import type { Stage } from './stage-list.ts';
import type { StagesOptions } from './stage-options.ts';
import { stageTask } from './stage-records.ts';

/** Below the brief of a stage that may ask for advice; undefined: nothing is said of it. */
export function adviceText(
  { asks }: Stage,
  { roster, prompts }: Pick<View, 'prompts'> & { readonly roster: readonly Pick<Member, 'role'>[] },
): string | undefined {
  const { of: roles = [], most = 0 } = asks ?? {};
  const of = roles.filter((role) => roster.some((member) => member.role === role));
  if (of.length === 0) return undefined;
  return renderPrompt('stage/advice', { roles: of.join(' or '), most: counted(most, 'question') }, prompts);
}

interface Ask extends Pick<MailView, 'id' | 'from' | 'to'> {
  readonly action?: string | undefined;
  readonly via?: string | undefined;
}

/** Why a question is refused; undefined: it is not. MAIN, and who may add paths to the task, can always be asked. */
export function adviceRefusal(view: View, options: StagesOptions, ask: Ask): string | undefined {
  const stage = askingStage(view, options, ask);
  if (stage?.asks === undefined || isAboutPaths(view, options, ask)) return undefined;
  const { of, most } = stage.asks;
  const isAdvice = ({ to }: Ask): boolean => to.every((one) => of.includes(agentAt(view.roster, one)?.role ?? one));
  if (!isAdvice(ask)) return `${stage.id} asks only ${of.join(' or ')} for advice`;
  const asked = view
    .mail({ type: 'ask' })
    .filter(
      (one) => askingStage(view, options, one) === stage && entryOf(view, one) === entryOf(view, ask) && isAdvice(one),
    )
    .findIndex(({ id }) => id === ask.id);
  if (asked < most) return undefined;
  return `${stage.id} has had its ${counted(most, 'question')} of this run; decide yourself, and say what is open`;
}

/** Each entry of a stage has questions of its own. */
function entryOf(view: View, { via = '' }: Ask): string | undefined {
  return stageTask(view, via)?.entry;
}

/** The stage whose author asks; undefined: a reviewer does, a person, or work of no stage. */
function askingStage(view: View, { list }: StagesOptions, { from, via = '', action, to }: Ask): Stage | undefined {
  const place = stageTask(view, via);
  const isAuthor = agentAt(view.roster, from)?.role === view.task(via)?.role;
  if (place === undefined || !isAuthor || action === 'assign' || to.every((one) => one === MAIN)) return undefined;
  return stageOf(list, place.stage);
}

function isAboutPaths(view: View, options: StagesOptions, ask: Ask): boolean {
  const grants = grantsOf(options);
  return (
    ask.action === 'clarify' && ask.to.every((one) => grants.mayAdd(view, ask, agentAt(view.roster, one)?.name ?? one))
  );
}
