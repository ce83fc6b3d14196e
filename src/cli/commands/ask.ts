import { bindWorkspace, openWorkspace, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import type { TrustOption } from '../../squad/new-run.ts';
import { ask as take, outcomeOf, type AskedOutcome } from '../../squad/people/ask.ts';
import { stepPeople } from '../../squad/people/step-people.ts';
import { keepAttachments } from '../../squad/team/attachments.ts';
import { findService } from '../../squad/service/service-lock.ts';
import { plainText } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { confirm, trustOf } from '../consent.ts';
import { printResult } from '../output.ts';

/** Says something to the team in the words of a person, and prints the answer. */
export async function ask(context: CommandContext, text: string, options: Options<'ask'>): Promise<void> {
  const workspace = bindWorkspace(await openWorkspace(context));
  const attachments = await keepAttachments(workspace, options.attach ?? []);
  const id = await take(workspace, { text, attachments });
  const trust = trustOf(context, options);
  const code = await untilSettled(context, workspace, { id, trust, options });
  const outcome = outcomeOf(workspace, id);
  if (outcome?.state !== 'waits') return end(context, workspace, { id, outcome, code, options });
  const word = await yesOrNo(context, outcome, options);
  if (word !== undefined) {
    await take(workspace, { text: word });
    await untilSettled(context, workspace, { id, trust, options });
  }
  end(context, workspace, { id, outcome: outcomeOf(workspace, id), code, options });
}

interface Asked extends TrustOption {
  readonly id: string;
  readonly options: Options<'ask'>;
}

/** Does at once what needs no run. Returns the exit code of what was hosted. */
async function untilSettled(
  context: CommandContext,
  workspace: OpenedWorkspace,
  { id, trust, options }: Asked,
): Promise<number> {
  const isSettled = (): boolean => {
    const state = outcomeOf(workspace, id)?.state;
    return state !== undefined && state !== 'waits';
  };
  const first = outcomeOf(workspace, id)?.state;
  const isOver = (): boolean => isSettled() || (first === undefined && outcomeOf(workspace, id) !== undefined);
  while (!isOver()) {
    const { did } = await stepPeople(workspace, { trust });
    if (did === 'wait' || did === 'submit-read') break;
  }
  if (isOver()) return 0;
  const { driveTeam } = await import('./drive-team.ts');
  return driveTeam(context, options, { isOver, next: async (now) => stepPeople(now, { trust }) });
}

/** A person’s word at the terminal, where what was read was shown; undefined: it waits on. */
async function yesOrNo(
  { output }: CommandContext,
  { says }: AskedOutcome,
  { json }: Options<'ask'>,
): Promise<'yes' | 'no' | undefined> {
  if (!process.stdin.isTTY || json === true) return undefined;
  for (const line of plainText(says).split('\n').slice(0, -1)) output.problem(line);
  return (await confirm('Do it?')) ? 'yes' : 'no';
}

interface End extends Pick<Asked, 'id' | 'options'> {
  readonly outcome: AskedOutcome | undefined;
  readonly code: number;
}

function end({ output, exit }: CommandContext, workspace: OpenedWorkspace, { id, outcome, code, options }: End): void {
  if (outcome === undefined) {
    output.problem('Your message is on record, and no run has read it yet: `squad serve` does it.');
    return exit(code === 0 ? 3 : code);
  }
  const { state, request, says } = outcome;
  const isServed = findService(workspace.directory) !== null;
  const next =
    state === 'waits'
      ? ['Confirm it with `squad ask yes`.']
      : request === undefined || isServed
        ? []
        : ['No service works here: `squad serve` does it.'];
  printResult(output, options, { type: 'asked', id, state, request: request ?? null, text: says }, [
    ...plainText(says).split('\n'),
    ...next,
  ]);
  exit(EXIT[state]);
}

/** 3: a person has to act. */
const EXIT: Readonly<Record<AskedOutcome['state'], number>> = { done: 0, waits: 3, refused: 1, dropped: 1 };
