import { Argument, type Command } from 'commander';
import type { InterventionRequest } from '../squad/intervene.ts';
import { agentScope, taskScope, WHOLE_RUN } from '../model/plan/scope.ts';
import type { CommandContext, JsonOptions, ScopeOptions, SwitchOptions, TaskOptions } from './command-context.ts';
import { addCommand, collect, JSON_OBJECT, lazily, PLAIN_LINES, RUN, RUNTIMES, scopeOf } from './option-values.ts';

const REASON = 'the reason, for the report';

/** Commands that answer or change a run from another terminal, with or without a running engine. */
export function addControlCommands(program: Command, context: CommandContext): void {
  addAnswer(program, context);
  const pauses = ['squad pause', 'squad pause --agent builder-2', 'squad pause my-run --task greet'];
  addCommand(program, 'pause', 'Pause a run, agent or task. Running turns finish; no new ones start.', ...pauses)
    .argument('[run]', RUN)
    .option(...JSON_OBJECT)
    .option('--agent <name>', 'only this agent')
    .option('--task <id>', 'only this task')
    .action(async (run: string | undefined, options: ScopeOptions) =>
      intervene(context, run, { verb: 'pause', on: scopeOf(options) }, options),
    );
  addCommand(program, 'drain', 'Let running turns finish, start no new ones, and end the engine.', 'squad drain')
    .argument('[run]', RUN)
    .option(...JSON_OBJECT)
    .action(async (run: string | undefined, options: JsonOptions) =>
      intervene(context, run, { verb: 'drain' }, options),
    );
  const cancel = 'Cancel a run or a task for good. Delivered work stays; `squad retry` reopens it.';
  addCommand(program, 'cancel', cancel, 'squad cancel', 'squad cancel --task docs --reason "not needed any more"')
    .argument('[run]', RUN)
    .option(...JSON_OBJECT)
    .option('--task <id>', 'cancel only this task and the tasks that need it')
    .option('--reason <text>', REASON, '')
    .option(...PLAIN_LINES)
    .action(lazily(context, async () => (await import('./commands/run.ts')).cancel));
  addTaskCommands(program, context);
}

function addAnswer(program: Command, context: CommandContext): void {
  const answers = [
    'squad answer "try again"',
    'squad answer engine/auth/claude give up',
    'squad answer plan-1 --file plan.yaml',
    'squad answer --paths src/router.ts,docs "yes"',
  ];
  addCommand(program, 'answer', 'Answer a question from a run.', ...answers)
    .argument(
      '[words...]',
      'the question’s id and the answer; a single word or quoted text answers the only open question',
    )
    .option('--file <path>', 'answer with your version of the plan, as YAML or JSON')
    .option('--paths <list>', 'files and folders that the task of the agent that asked may change too, A,B')
    .option('--run <run>', RUN)
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/answer.ts')).answer));
}

function addTaskCommands(program: Command, context: CommandContext): void {
  const retries = [
    'squad retry',
    'squad retry greet',
    'squad retry greet --fresh --note "use the old API"',
    'squad retry greet --runtime codex',
    'squad retry greet --agent builder-2',
  ];
  const retry = 'Try a task again that failed, stalled, or was skipped or cancelled.';
  addCommand(program, 'retry', retry, ...retries)
    .argument(
      '[task]',
      'id of the task (default: list those that failed or are stuck, and ask what to do at a terminal)',
    )
    .option('--run <run>', RUN)
    .option('--fresh', 'start a new session from the delivered state; old work is kept under refs/squad')
    .option('--note <text>', 'a note for its agent')
    .option('--agent <name>', 'give the task to this agent, which has the role that the task needs')
    .option('--runtime <name>', `switch the task to this runtime: ${RUNTIMES}`)
    .option('--model <name>', 'with --runtime: the model, as the runtime names it')
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/retry.ts')).retry));
  const skip = 'Skip a task. Tasks that need it start as if it were delivered.';
  ofTask(program, 'skip', skip, 'squad skip docs --reason "we write them later"')
    .option('--reason <text>', REASON, '')
    .action(async (task: string, { reason: why = '', ...options }: TaskOptions) =>
      intervene(context, options.run, { verb: 'skip', task, why }, options),
    );
  const override = 'Decide how a task ends. `done` overrules its reviewers, but not the checks.';
  ofTask(program, 'override', override, 'squad override greet done --reason "I read it myself"')
    .addArgument(new Argument('<end>', 'the end of the task').choices(['done', 'failed']))
    .requiredOption('--reason <text>', REASON)
    .action(async (task: string, as: 'done' | 'failed', { reason: why = '', ...options }: TaskOptions) =>
      intervene(context, options.run, { verb: 'override', task, as, why }, options),
    );
  const switches = [
    'squad switch codex --agent builder-1',
    'squad switch claude --agent builder-1 --agent reviewer',
    'squad switch claude --task greet --model opus',
  ];
  addCommand(program, 'switch', 'Switch agents or tasks to another runtime, from their next turns on.', ...switches)
    .option(...JSON_OBJECT)
    .option('--run <run>', RUN)
    .argument('<runtime>', `the new runtime: ${RUNTIMES}`)
    .option('--agent <name>', 'switch this agent; may be given several times', collect)
    .option('--task <id>', 'switch only this task; may be given several times', collect)
    .option('--model <name>', 'the model, as the runtime names it (default: the runtime’s own)')
    .action(async (runtime: string, { agent = [], task = [], model, ...options }: SwitchOptions) => {
      const [on = WHOLE_RUN, ...also] = [...agent.map(agentScope), ...task.map(taskScope)];
      const more = { ...(also.length === 0 ? {} : { also }), ...(model === undefined ? {} : { model }) };
      return intervene(context, options.run, { verb: 'switch', on, runtime, ...more }, options);
    });
}

function ofTask(...command: Parameters<typeof addCommand>): Command {
  return addCommand(...command)
    .option(...JSON_OBJECT)
    .option('--run <run>', RUN)
    .argument('<task>', 'id of the task');
}

async function intervene(
  context: CommandContext,
  run: string | undefined,
  request: InterventionRequest,
  options: JsonOptions,
): Promise<void> {
  await (await import('./commands/intervene.ts')).intervene(context, run, request, options);
}
