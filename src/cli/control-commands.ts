import { Argument, Option, type Command } from 'commander';
import type { Intervention } from '../model/plan/intervention.ts';
import { RUNTIME_NAMES, type RuntimeName } from '../model/runtime-name.ts';
import type { CancelOptions, CommandContext, InterveneOptions, ScopeOptions, TaskOptions } from './command-context.ts';
import { example } from './option-values.ts';
import { scopeOf } from './scope.ts';

const RUN = 'a run, by name or id; otherwise the one that an engine drives, or the newest';
const REASON = 'why, for the report';

/** What a person can do to a run from another terminal, whether an engine drives it or not. */
export function addControlCommands(program: Command, context: CommandContext): void {
  const intervene = async (run: string | undefined, intervention: Intervention, options: InterveneOptions) =>
    (await import('./commands/intervene.ts')).intervene(context, run, intervention, options);

  scoped(program.command('pause'))
    .description('Start nothing new of a run, an agent or a task; what lives may end. `squad resume` goes on.')
    .argument('[run]', RUN)
    .addHelpText('after', example('squad pause', 'squad pause --agent builder-2', 'squad pause my-run --task greet'))
    .action(async (run: string | undefined, options: ScopeOptions) =>
      intervene(run, { verb: 'pause', on: scopeOf(options) }, options),
    );
  withJson(program.command('drain'))
    .description('Start nothing new of a run, and end its engine once nothing lives. `squad resume` goes on.')
    .argument('[run]', RUN)
    .addHelpText('after', example('squad drain'))
    .action(async (run: string | undefined, options: InterveneOptions) => intervene(run, { verb: 'drain' }, options));
  withJson(program.command('cancel'))
    .description('End a run for good, or one of its tasks. What is delivered stays; only `squad retry` opens it again.')
    .argument('[run]', RUN)
    .option('--task <id>', 'this task alone: what needs it is given up with it')
    .option('--reason <text>', REASON, '')
    .option('--plain', 'no status line, whatever the terminal')
    .addHelpText('after', example('squad cancel', 'squad cancel --task docs --reason "not needed any more"'))
    .action(async (run: string | undefined, options: CancelOptions) =>
      (await import('./commands/cancel.ts')).cancel(context, run, options),
    );
  withRun(program.command('retry'))
    .description('Try a task again: one that failed, was skipped or cancelled, or whose turn gets nowhere.')
    .argument('<task>', 'its id')
    .option('--fresh', 'in a new session, from the delivered state; what is in its folder is kept under refs/squad')
    .option('--note <text>', 'what its agent is told')
    .addHelpText('after', example('squad retry greet', 'squad retry greet --fresh --note "use the old API"'))
    .action(async (task: string, options: TaskOptions) =>
      intervene(
        options.run,
        {
          verb: 'retry',
          task,
          fresh: options.fresh === true,
          ...(options.note === undefined ? {} : { note: options.note }),
        },
        options,
      ),
    );
  withRun(program.command('skip'))
    .description('Go on without a task: what needs it starts as if it were delivered.')
    .argument('<task>', 'its id')
    .option('--reason <text>', REASON, '')
    .addHelpText('after', example('squad skip docs --reason "we write them later"'))
    .action(async (task: string, { reason = '', ...options }: TaskOptions) =>
      intervene(options.run, { verb: 'skip', task, why: reason }, options),
    );
  withRun(program.command('override'))
    .description('Say how a task ends. `done` delivers what there is past its reviewers, never past checks.')
    .argument('<task>', 'its id')
    .addArgument(new Argument('<end>', 'how it ends').choices(['done', 'failed']))
    .requiredOption('--reason <text>', REASON)
    .addHelpText('after', example('squad override greet done --reason "I read it myself"'))
    .action(async (task: string, as: 'done' | 'failed', { reason = '', ...options }: TaskOptions) =>
      intervene(options.run, { verb: 'override', task, as, why: reason }, options),
    );
  withRun(program.command('switch'))
    .description('Have the turns of an agent, or of one task, taken by another runtime from now on.')
    .addArgument(new Argument('<runtime>', 'who takes them').choices([...RUNTIME_NAMES]))
    .option('--agent <name>', 'all that this agent does')
    .option('--task <id>', 'the work on this task')
    .option('--model <name>', 'the runtime’s own name of a model (default: its own)')
    .addHelpText(
      'after',
      example('squad switch codex --agent builder-1', 'squad switch claude --task greet --model opus'),
    )
    .action(async (runtime: RuntimeName, options: TaskOptions) =>
      (await import('./commands/switch.ts')).switchRuntime(context, runtime, options),
    );
}

function scoped(command: Command): Command {
  return withJson(command).option('--agent <name>', 'this agent alone').option('--task <id>', 'this task alone');
}

function withRun(command: Command): Command {
  return withJson(command).addOption(new Option('--run <run>', RUN));
}

function withJson(command: Command): Command {
  return command.option('--json', 'print one JSON object');
}
