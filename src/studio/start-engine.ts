import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { errorLineSchema } from '../model/error-line.ts';
import { RUN_EVENTS } from '../model/run.ts';
import { startDetachedEngine, type EngineStart, type EngineStarted } from '../squad/detached-engine.ts';
import { bindWorkspace, lookIn, type OpenedWorkspace } from '../squad/open-workspace.ts';
import { writeTicket } from '../squad/ticket.ts';
import { fieldsOf } from '../text/json.ts';
import { plainLine } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';
import { Refusal } from './refusal.ts';
import { runOptions, type StartInput } from './start-input.ts';

/** The command line, which drives runs: this process may be another program's server. */
const PROGRAM = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../cli/main.ts' : '../bin/squad.cjs', import.meta.url),
);
/** Exit code of what has to wait for another process. */
const BUSY = 75;
/** The argument of the objective, which is in the ticket. */
const GIVEN = 'ticket';

/** Starts a run with the id of the thread, in a process of its own. Throws a refusal with what `squad run` says. */
export async function startRun(opened: OpenedWorkspace, threadId: string, input: StartInput): Promise<void> {
  const workspace = bindWorkspace(opened);
  // Others can see command lines.
  const ticket = await writeTicket(workspace.directory, { argument: input.objective });
  try {
    const options = ['--json', `--run-id=${threadId}`, `--ticket=${ticket}`, ...runOptions(input)];
    const started = await start(workspace, ['run', ...options, '--', GIVEN], threadId, (ledger) => {
      const isDefined = ledger.events({ stream: threadId, types: [RUN_EVENTS.defined], limit: 1 }).length > 0;
      return isDefined ? threadId : undefined;
    });
    if (!started.began) throw refusalIn(started, consentTo(input));
  } finally {
    await rm(ticket, { force: true });
  }
}

/** Continues the run of the thread in a process of its own. Throws a refusal with what `squad resume` says. */
export async function continueRun(workspace: OpenedWorkspace, threadId: string): Promise<void> {
  const before = lookIn(workspace, (ledger) => ledger.segments(threadId).length) ?? 0;
  const started = await start(workspace, ['resume', '--json', '--', threadId], threadId, (ledger) =>
    ledger.segments(threadId).length > before ? threadId : undefined,
  );
  if (!started.began) throw refusalIn(started);
}

async function start(
  workspace: OpenedWorkspace,
  args: readonly string[],
  name: string,
  begun: EngineStart['begun'],
): Promise<EngineStarted> {
  return startDetachedEngine(workspace, { command: [workspace.host.node, PROGRAM, ...args], name, begun });
}

/** No person at this terminal can agree: at another one squad shows the commands, asks, and starts nothing. */
function consentTo(input: StartInput): string {
  const command = ['squad plan', ...runOptions(input), '--prompts', shellWord(plainLine(input.objective))].join(' ');
  return `Read them and agree to them at a terminal, once: \`${command}\`. Then start this again.`;
}

function refusalIn({ said, code }: Extract<EngineStarted, { began: false }>, toConsent?: string): Refusal {
  const lines = said.split('\n').map((line) => errorLineSchema.safeParse(fieldsOf(line)).data);
  const error = lines.findLast((line) => line !== undefined);
  const status = code === BUSY ? 409 : 422;
  if (error === undefined) {
    const end = plainLine(said.slice(-2_000), 500);
    return new Refusal(status, `the engine ended with exit code ${code}: ${end}`, 'Run `squad doctor`.');
  }
  const next = error.code === 'not-trusted' ? toConsent : undefined;
  return new Refusal(status, error.message, next ?? error.next ?? 'Run `squad doctor`.', { code: error.code });
}
