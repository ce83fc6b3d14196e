import { Option, type Command } from 'commander';
import { LIMITS } from '../model/limit-table.ts';
import { DEFAULT_PLAYBOOK } from '../model/playbook-name.ts';
import { SINKS } from '../model/tracing.ts';
import type { CommandContext } from './command-context.ts';
import {
  addCommand,
  duration,
  JSON_LINES,
  JSON_OBJECT,
  lazily,
  MODEL,
  PLAIN_LINES,
  PLAYBOOKS,
  positiveNumber,
  RUN,
  RUNTIMES,
  wholeNumber,
} from './option-values.ts';

/** Commands that start, resume or stop an engine, of which only these load the graph, and those about session folders. */
export function addDrivingCommands(program: Command, context: CommandContext): void {
  addBeginningCommands(program, context);
  addContinuingCommands(program, context);
  addPastCommands(program, context);
  addSessionCommands(program, context);
}

/** Commands that begin a run. */
function addBeginningCommands(program: Command, context: CommandContext): void {
  const about = 'Run an objective: plan, build, review and deliver it on the branch squad/<name>.';
  const runs = [
    'squad run "add a login form"',
    'squad run objective.md --parallel 3 --max-usd 5 --yes',
    "squad run '#12'",
    'git log -1 --format=%B | squad run -',
    'squad run objective.md --detach',
    'squad run objective.md --dry-run',
    'squad run --session=.workflow/.team/TC-login-2026-02-27',
  ];
  const run = addNewRun(addCommand(program, 'run', about, ...runs), '[objective]')
    .option(
      '--session [folder]',
      'play the session in this folder, without an objective; its files are kept up to date',
    )
    .option('--strict', 'exit with 1 if something was not checked, a check was changed unreviewed, or a person decided')
    .option('--dry-run', 'check everything, show what the run would do, and start nothing')
    .option('--resume', 'resume the newest unfinished run of this objective or session, if there is one')
    .addOption(new Option('--ticket <path>', 'the objective is in this ticket').hideHelp())
    .addOption(new Option('--run-id <uuid>', 'id of the run; the same id again continues it').hideHelp());
  addLimits(run).action(lazily(context, async () => (await import('./commands/run.ts')).run));

  addCoordinate(program, context);

  const plans = ['squad plan objective.md', 'squad plan "add a login form" --prompts'];
  const plan = addCommand(
    program,
    'plan',
    'Plan an objective, and start nothing before you approve the plan.',
    ...plans,
  );
  addCaps(addNewRun(plan))
    .option('--prompts', 'print the instructions and prompts of each role instead; no agent starts')
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/plan.ts')).plan));
}

function addContinuingCommands(program: Command, context: CommandContext): void {
  const resume = addCommand(
    program,
    'resume',
    'Resume a run that was interrupted, paused or stopped, or that waits for you.',
    'squad resume',
    'squad resume my-run --max-minutes 240',
    'squad resume --reload',
    'squad resume my-run --past-deadline',
    'squad resume --detach',
    'squad resume --all --every 60s',
  )
    .argument('[run]', 'name or id of a run (default: the one that needs it most)')
    .option('--agent <name>', 'resume only this paused agent')
    .option('--task <id>', 'resume only this paused task')
    .option('--all', 'resume every run here that needs an engine; meant for a timer')
    .option('--past-deadline', 'let turns start although the deadline of the objective has passed')
    .option('--reload', 'read setup, verify, limits and commands of criteria again; ask before new commands run')
    .option('--yes', 'agree to what the run does, and with --reload to what squad.yaml says, for this run')
    .option('--every <duration>', 'with --all: repeat, for example every 60s', duration);
  addLimits(resume).action(lazily(context, async () => (await import('./commands/run.ts')).resume));

  addCommand(program, 'stop', 'Stop a run and its turns now. `squad resume` continues it.', 'squad stop')
    .argument('[run]', RUN)
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/stop.ts')).stop));
}

function addCoordinate(program: Command, context: CommandContext): void {
  const about = 'Let a planner design a team for an objective, and write it into a session folder. Make no branch.';
  const command = addCommand(
    program,
    'coordinate',
    about,
    'squad coordinate objective.md',
    'squad coordinate "add a login form" --into ./team --run',
    'squad coordinate --into ./team --resume',
  )
    .argument('[objective]', `${OBJECTIVE} (with --resume: default the task of the session)`)
    .option('--into <folder>', 'the folder of the session (default: a new one in .workflow/.team)')
    .option('--resume', 'keep what is valid in the folder, and make what is missing')
    .option('--run', 'run the session once it is made, as `squad run --session` does');
  addWho(command, {
    name: 'name of the run (default: `coordinate-` and the title)',
    yes: 'allow the commands in squad.yaml for this run, and with --run for the run of the session',
  });
  addOutput(addWaiting(addCaps(command))).action(
    lazily(context, async () => (await import('./commands/coordinate.ts')).coordinate),
  );
}

/** Commands that begin with the record of a run. */
function addPastCommands(program: Command, context: CommandContext): void {
  const forks = 'Fork a run: start a new one from one of its events. The old run stays as it is.';
  addCommand(program, 'fork', forks, 'squad fork my-run', 'squad fork my-run --at 42 --name second-try')
    .argument('[run]', RUN)
    .option('--at <seq>', 'an event of the run (default: list where the fork can begin)', wholeNumber)
    .option('--name <name>', 'name of the new run and its branch (default: that of the run, with a number)')
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/fork.ts')).fork));
}

/** Commands about session folders. */
function addSessionCommands(program: Command, context: CommandContext): void {
  const example = 'squad session check .workflow/.team/TC-login-2026-02-27';
  const session = addCommand(program, 'session', 'Check the session folder of a team.', example);
  addCommand(session, 'check', 'Check a session folder, and list all that is wrong with it. Change nothing.', example)
    .argument('[folder]', 'folder with team-session.json, task-analysis.json and roles/')
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/session-check.ts')).sessionCheck));
}

const OBJECTIVE =
  'what to do, in words; or a Markdown file, `-` for standard input, `#12` or an issue’s URL (read through gh)';

/** Adds the argument and options that make a new run. */
function addNewRun(command: Command, argument = '<objective>'): Command {
  command
    .argument(argument, OBJECTIVE)
    .option(
      '--playbook <name>',
      `one of ${PLAYBOOKS} (default: as the objective or squad.yaml says, else ${DEFAULT_PLAYBOOK})`,
    );
  return addWho(command, {
    name: 'name of the run and its branch (default: from the title)',
    yes: 'allow the commands in the objective and squad.yaml for this run',
  });
}

function addWho(command: Command, { name, yes }: { readonly name: string; readonly yes: string }): Command {
  return command
    .option('--runtime <name>', `use this runtime for all turns: ${RUNTIMES}`)
    .option(...MODEL)
    .option('--name <name>', name)
    .option('--yes', yes)
    .option('--allow-full-access', 'allow agents with `access: full` to work without a sandbox');
}

function addCaps(command: Command): Command {
  for (const { about, flag } of LIMITS) {
    if (flag === undefined) continue;
    command.option(`${flag.name} <n>`, `limit the ${about}`, flag.whole ? wholeNumber : positiveNumber);
  }
  return command;
}

function addLimits(command: Command): Command {
  return addOutput(
    addWaiting(addCaps(command)).option(
      '--detach',
      'run the engine in the background; the command ends once the engine has the run',
    ),
  );
}

function addOutput(command: Command): Command {
  return command.option(...JSON_LINES).option(...PLAIN_LINES);
}

function addWaiting(command: Command): Command {
  return command
    .option('--wait', 'wait for the reset of a usage limit (the default)')
    .option('--no-wait', 'end with exit 4 instead of waiting for the reset of a usage limit')
    .addOption(
      new Option('--trace [to]', 'send traces (default: where squad.yaml or the environment says)').choices([...SINKS]),
    );
}
