import { rm } from 'node:fs/promises';
import { ownProgram, type CommandContext, type Options } from '../command-context.ts';
import { NEW_RUN } from '../flags.ts';
import { newRunOf } from '../consent.ts';
import { readArgument } from '../read-objective.ts';
import { sourceIn } from '../../squad/folder-runs.ts';
import { checkNewRun } from '../../squad/new-run.ts';
import { openRun } from '../../squad/open-run.ts';
import { bindWorkspace, openWorkspace, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import { openMembers, waitUntilTaken } from '../team/open-members.ts';
import { enginePane, environmentOfRuntimes } from '../team/team-panes.ts';
import { passObjective, writeTicket } from '../../squad/ticket.ts';
import { sha256Of } from '../../model/sha256.ts';
import { SquadError, usageError } from '../../model/errors.ts';
import { TEAM_PLAYBOOK } from '../../model/playbook-name.ts';
import { readSettings } from '../../squad/preflight/read-settings.ts';
import type { Terminal } from '../../substrate/ports/terminal.ts';
import { insideTurn } from '../../substrate/system/process/process-table.ts';
import { runInTerminal } from '../../substrate/system/process/run-in-terminal.ts';
import { createTmux } from '../../substrate/system/terminal/tmux.ts';
import { pickVariables } from '../../text/defined.ts';
import { argumentsOf } from '../../text/flags.ts';

/** Variables that panes get from this process. The terminal's own environment may be older. */
const PASSED_ON = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME', 'SQUAD_NODE'];

/** Opens panes on a new run, a named run or the running one. */
export async function team(
  context: CommandContext,
  objective: string | undefined,
  options: Options<'team'>,
): Promise<void> {
  const { host, output } = context;
  refuseInsideTurn(context);
  if (objective !== undefined && options.run !== undefined) {
    throw usageError(
      'an objective and --run cannot be given together',
      'Give an objective for a new run, or --run for an existing one.',
    );
  }
  const workspace = await openWorkspace(context);
  const { settings } = await readSettings(workspace.repository.root, workspace.composition, host);
  const terminal = createTmux({
    processes: workspace.composition.processes,
    environment: pickVariables(host.environment, Object.keys(host.environment)),
  });
  const name = teamName(workspace);
  if (options.close === true) {
    output.line((await terminal.close(name)) ? 'The panes of the team are closed.' : 'No panes of this team are open.');
    return;
  }
  const ready = await terminal.check();
  if (!ready.ok) throw new SquadError({ code: 'wrong-environment', message: ready.why, next: ready.next });

  const isOpen = await terminal.isOpen(name);
  if (!isOpen || objective !== undefined || options.run !== undefined) {
    const facts = factsOf(context);
    const { run, environment } = await beginOrJoin(context, workspace, { terminal, name, objective, options });
    // Opened again: the first run of a repository gives it its state.
    const members = await openMembers(
      await openWorkspace(context),
      { terminal, team: name, settings, environment },
      { ...facts, run },
    );
    output.line(`${run}: panes for ${members.join(', ')}.`);
  } else output.line('The panes of the team are already open.');
  await show(context, terminal, name, options);
}

/** The run, and the environment variables for its runtimes. A new run gets a pane for its engine. */
async function beginOrJoin(
  context: CommandContext,
  workspace: OpenedWorkspace,
  {
    terminal,
    name,
    objective,
    options,
  }: { terminal: Terminal; name: string; objective: string | undefined; options: Options<'team'> },
): Promise<{ run: string; environment: Record<string, string> }> {
  const { environment } = context.host;
  if (objective === undefined) {
    const { row, definition } = (await openRun(context, options.run)).reading;
    return {
      run: row.name,
      environment: environmentOfRuntimes(environment, workspace.composition, definition),
    };
  }
  const planned = await planRun(context, workspace, objective, options);
  const passed = environmentOfRuntimes(environment, workspace.composition, planned.definition);
  const { directory } = bindWorkspace(workspace);
  const own = await writeTicket(directory, { environment: passed });
  const { objective: args, tickets } = await passObjective(directory, planned.objective);
  try {
    await terminal.open(name, [enginePane(factsOf(context), [...planned.args, ...args], own)]);
  } catch (error) {
    await Promise.all([own, ...tickets].map(async (ticket) => rm(ticket, { force: true })));
    throw error;
  }
  await waitUntilTaken([own, ...tickets], workspace.composition.clock);
  return { run: planned.name, environment: passed };
}

/** Checks the run here, where a person reads the problems and agrees to its commands: the engine's pane asks nothing. */
async function planRun(context: CommandContext, workspace: OpenedWorkspace, given: string, options: Options<'team'>) {
  const objective = await readArgument(context, given);
  const { definition } = await checkNewRun(workspace, sourceIn(workspace, objective), {
    ...newRunOf(context, options),
    otherwise: TEAM_PLAYBOOK,
  });
  const { name, playbook } = definition;
  return {
    name,
    definition,
    objective,
    /** Arguments of `squad` that start it, without its objective. */
    args: ['run', ...argumentsOf(NEW_RUN, { ...options, name, playbook })],
  };
}

async function show(
  { output, host }: CommandContext,
  terminal: Terminal,
  name: string,
  { detach }: Options<'team'>,
): Promise<void> {
  const attach = terminal.attach(name);
  if (attach !== undefined && detach !== true && process.stdin.isTTY && process.stdout.isTTY) {
    const { problem } = await runInTerminal(attach, { kind: 'terminal', environment: host.environment });
    if (problem === undefined) return;
    output.problem(`Cannot attach to the panes: ${problem}`);
  }
  if (attach !== undefined) output.line(`Show them: ${attach.join(' ')}`, 'exact');
  output.line('Close them: squad team --close   (a run continues unless its engine is in one of the panes)');
}

function factsOf({ host }: CommandContext) {
  const passed = PASSED_ON.flatMap((name) => {
    const value = host.environment[name];
    return value === undefined || value === '' ? [] : [[name, value] as const];
  });
  return {
    program: ownProgram(host),
    directory: host.workingDirectory,
    environment: Object.fromEntries(passed),
  };
}

/** Unique for each checkout. tmux allows no dot or colon. */
function teamName({ repository }: OpenedWorkspace): string {
  return `team-${sha256Of(repository.root).slice(0, 8)}`;
}

/** A pane sends mail as a person, so agents must not open one. */
function refuseInsideTurn({ host }: CommandContext): void {
  if (!insideTurn(host.environment, host.pid)) return;
  throw new SquadError({
    code: 'bad-input',
    message: 'not_authorized: a turn cannot open panes',
    next: 'Use the tools of the server `squad` for mail.',
  });
}
