import { Argument, Option, type Command } from 'commander';
import type { Intervention } from '../model/plan/intervention.ts';
import { RUNTIME_NAMES, type RuntimeName } from '../model/runtime-name.ts';
import type { CancelOptions, CommandContext, InterveneOptions, ScopeOptions, TaskOptions } from './command-context.ts';
import { example, scopeOf } from './option-values.ts';

const RUN = 'name or id of a run (default: the one that is running, or the newest)';
const REASON = 'the reason, for the report';

/** Commands that change a run from another terminal, with or without a running engine. */
export function addControlCommands(program: Command, context: CommandContext): void {
  const intervene = async (run: string | undefined, intervention: Intervention, options: InterveneOptions) =>
    (await import('./commands/intervene.ts')).intervene(context, run, intervention, options);

  scoped(program.command('pause'))
    .description('Pause a run, agent or task. Running turns finish; no new ones start.')
    .argument('[run]', RUN)
    .addHelpText('after', example('squad pause', 'squad pause --agent builder-2', 'squad pause my-run --task greet'))
    .action(async (run: string | undefined, options: ScopeOptions) =>
      intervene(run, { verb: 'pause', on: scopeOf(options) }, options),
    );
  withJson(program.command('drain'))
    .description('Let running turns finish, start no new ones, and end the engine.')
    .argument('[run]', RUN)
    .addHelpText('after', example('squad drain'))
    .action(async (run: string | undefined, options: InterveneOptions) => intervene(run, { verb: 'drain' }, options));
  withJson(program.command('cancel'))
    .description('Cancel a run or a task for good. Delivered work stays; `squad retry` reopens it.')
    .argument('[run]', RUN)
    .option('--task <id>', 'cancel only this task and the tasks that need it')
    .option('--reason <text>', REASON, '')
    .option('--plain', 'print no status line')
    .addHelpText('after', example('squad cancel', 'squad cancel --task docs --reason "not needed any more"'))
    .action(async (run: string | undefined, options: CancelOptions) =>
      (await import('./commands/cancel.ts')).cancel(context, run, options),
    );
  withRun(program.command('retry'))
    .description('Try a task again that failed, stalled, or was skipped or cancelled.')
    .argument('<task>', 'id of the task')
    .option('--fresh', 'start a new session from the delivered state; old work is kept under refs/squad')
    .option('--note <text>', 'a note for its agent')
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
    .description('Skip a task. Tasks that need it start as if it were delivered.')
    .argument('<task>', 'id of the task')
    .option('--reason <text>', REASON, '')
    .addHelpText('after', example('squad skip docs --reason "we write them later"'))
    .action(async (task: string, { reason = '', ...options }: TaskOptions) =>
      intervene(options.run, { verb: 'skip', task, why: reason }, options),
    );
  withRun(program.command('override'))
    .description('Decide how a task ends. `done` overrules its reviewers, but not the checks.')
    .argument('<task>', 'id of the task')
    .addArgument(new Argument('<end>', 'the end of the task').choices(['done', 'failed']))
    .requiredOption('--reason <text>', REASON)
    .addHelpText('after', example('squad override greet done --reason "I read it myself"'))
    .action(async (task: string, as: 'done' | 'failed', { reason = '', ...options }: TaskOptions) =>
      intervene(options.run, { verb: 'override', task, as, why: reason }, options),
    );
  withRun(program.command('switch'))
    .description('Switch an agent or a task to another runtime, from its next turn on.')
    .addArgument(new Argument('<runtime>', 'the new runtime').choices([...RUNTIME_NAMES]))
    .option('--agent <name>', 'switch this agent')
    .option('--task <id>', 'switch only this task')
    .option('--model <name>', 'the model, as the runtime names it (default: the runtime’s own)')
    .addHelpText(
      'after',
      example('squad switch codex --agent builder-1', 'squad switch claude --task greet --model opus'),
    )
    .action(async (runtime: RuntimeName, options: TaskOptions) =>
      (await import('./commands/switch.ts')).switchRuntime(context, runtime, options),
    );
}

function scoped(command: Command): Command {
  return withJson(command).option('--agent <name>', 'only this agent').option('--task <id>', 'only this task');
}

function withRun(command: Command): Command {
  return withJson(command).addOption(new Option('--run <run>', RUN));
}

function withJson(command: Command): Command {
  return command.option('--json', 'print one JSON object');
}
