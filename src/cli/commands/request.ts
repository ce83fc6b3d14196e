import { usageError } from '../../model/errors.ts';
import { operatorOf } from '../../squad/machine.ts';
import { bindWorkspace, openWorkspace, withLedger, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import { findService } from '../../squad/service/service-lock.ts';
import { keepAttachments } from '../../squad/team/attachments.ts';
import { listRequests, readRequest, requestIn } from '../../squad/team/list-requests.ts';
import { lookAtTeam } from '../../squad/team/read-team.ts';
import { cancelRequest, requestTaker } from '../../squad/team/requests.ts';
import { plainLine } from '../../text/plain-text.ts';
import { renderEnd } from '../../view/sprint/request-text.ts';
import { receivedText } from '../../squad/team/received-text.ts';
import type { RequestView } from '../../view/sprint/request-view.ts';
import type { CommandContext, JsonOptions, Options } from '../command-context.ts';
import { trustOf } from '../consent.ts';
import { printResult } from '../output.ts';
import { renderRequest, renderRequests } from '../render/request-lines.ts';

const WAITS = ['planned', 'done'] as const;

/** Asks the team for something, and says at once who has it next. */
export async function request(context: CommandContext, text: string, options: Options<'request'>): Promise<void> {
  const { host, output } = context;
  const { wait, key, attach = [] } = options;
  const until = waitOf(wait);
  const workspace = bindWorkspace(await openWorkspace(context));
  const { composition } = workspace;
  const attachments = await keepAttachments(workspace, attach);
  const added = await withLedger(workspace, 'write', (ledger) => {
    const take = requestTaker(ledger, { now: () => composition.clock.now(), redactor: composition.redactor([]) });
    return take({ text, by: operatorOf(host), key, attachments });
  });
  const view = requestIn(lookAtTeam(workspace), added.id);
  const { id, state, next } = view;
  const service = findService(workspace.directory) !== null;
  printResult(
    output,
    options,
    { type: 'request-received', id, how: added.how, state, next, items: added.items, service },
    [receivedText(added, view), ...(until === undefined && next !== null && next !== 'you' ? [workText(service)] : [])],
  );
  if (until !== undefined) await waitFor(context, workspace, { id, until, options });
}

function waitOf(given: true | string | undefined): (typeof WAITS)[number] | undefined {
  if (given === undefined) return undefined;
  if (given === true) return 'done';
  const found = WAITS.find((one) => one === given);
  if (found !== undefined) return found;
  const next = 'Quote the request as one word, or wait until it is planned: `squad request "…" --wait planned`.';
  throw usageError(`--wait takes planned or done, not ${plainLine(given, 40)}`, next);
}

/** Who moves it. */
function workText(service: boolean): string {
  return service
    ? '`squad serve` runs here and does it: `squad request list`.'
    : 'No service works here: `squad serve` does it, or `squad sprint start` for a milestone of yours.';
}

interface Waiting {
  readonly id: string;
  readonly until: (typeof WAITS)[number];
  readonly options: Options<'request'>;
}

/** Waits until the request is planned or over, and does the work where no service does. */
async function waitFor(
  context: CommandContext,
  workspace: OpenedWorkspace,
  { id, until, options }: Waiting,
): Promise<void> {
  const { driveTeam } = await import('./drive-team.ts');
  const isOver = (): boolean => isReached(requestIn(lookAtTeam(workspace), id), until);
  const code = await driveTeam(context, options, {
    trust: trustOf(context, options),
    begins: until === 'planned' ? 'plans' : undefined,
    isOver,
  });
  const view = requestIn(lookAtTeam(workspace), id);
  const { output } = context;
  if (isReached(view, until)) {
    printResult(output, options, { type: 'request-ended', ...view }, renderEnd(view));
    return context.exit(exitCodeFor(view));
  }
  output.problem(`${id} is ${view.state}, and stays on record: \`squad request show ${id}\`.`);
  context.exit(code === 0 ? 3 : code);
}

function isReached({ state }: RequestView, until: (typeof WAITS)[number]): boolean {
  if (state === 'received' || state === 'planning') return false;
  return until === 'planned' || state !== 'planned';
}

/** 3: a person has to act. */
function exitCodeFor({ state }: RequestView): number {
  if (state === 'blocked') return 3;
  return state === 'refused' || state === 'cancelled' ? 1 : 0;
}

export async function requestList(context: CommandContext, { json }: JsonOptions): Promise<void> {
  const { output } = context;
  const all = await listRequests(context);
  if (json === true) {
    for (const one of all) output.json({ type: 'request', ...one });
    return;
  }
  const shown = { now: Date.now(), columns: output.columns(), style: output.style };
  for (const line of renderRequests(all, shown)) output.line(line);
}

export async function requestShow(context: CommandContext, id: string, options: JsonOptions): Promise<void> {
  const { output } = context;
  const view = await readRequest(context, id);
  printResult(
    output,
    options,
    { type: 'request', ...view },
    renderRequest(view, { now: Date.now(), style: output.style }),
  );
}

export async function requestCancel(context: CommandContext, id: string, options: JsonOptions): Promise<void> {
  await readRequest(context, id);
  const workspace = await openWorkspace(context);
  const now = workspace.composition.clock.now();
  const items = await withLedger(workspace, 'write', (ledger) => cancelRequest(ledger, id, now));
  const stay = items.length === 0 ? '' : ` Its items stay in the backlog: ${items.join(', ')}.`;
  printResult(context.output, options, { type: 'request-cancelled', id, items }, [`${id} is cancelled.${stay}`]);
}
